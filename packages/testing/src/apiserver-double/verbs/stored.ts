/** Between the stored form of an object and the one of a request. */
import type { KubeObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { type Cause, Failure, invalid } from "../status.ts";

/** Largest object, in bytes of JSON; what etcd takes in one request. */
const MAX_OBJECT = 1_572_864;
export function refuseInvalid(type: ResourceType, object: KubeObject, causes: Cause[]): void {
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

export function refuseLarge(object: KubeObject): void {
  const size = Buffer.byteLength(JSON.stringify(object));
  if (size > MAX_OBJECT) throw new Failure(500, "", "etcdserver: request is too large");
}

export async function toStorage(type: ResourceType, object: KubeObject): Promise<KubeObject> {
  return type.toStorage === undefined ? object : await type.toStorage(object);
}

/** Stored objects in the form of a type. */
export async function present(
  type: ResourceType,
  stored: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  return type.fromStorage === undefined ? stored : await type.fromStorage(stored);
}

export async function presentOne(type: ResourceType, stored: KubeObject): Promise<KubeObject> {
  return (await present(type, [stored]))[0]!;
}
