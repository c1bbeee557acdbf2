/** Between the stored form of an object and the one of a request. */
import type { KubeObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { type Cause, Failure, invalid } from "../status.ts";

/** Largest object in bytes; what etcd takes in one request. Built-in objects are stored as protobuf, without escapes. */
const MAX_OBJECT = 1_572_864;
export function refuseInvalid(type: ResourceType, object: KubeObject, causes: Cause[]): void {
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

export function refuseLarge(object: KubeObject): void {
  const size = storedBytes(object);
  if (size > MAX_OBJECT) throw new Failure(500, "", "etcdserver: request is too large");
}

/** Bytes of all keys and values, texts as they are. */
function storedBytes(object: KubeObject): number {
  let bytes = 0;
  const pending: unknown[] = [object];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) for (const item of value) pending.push(item);
    else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        bytes += Buffer.byteLength(key);
        pending.push(member);
      }
    } else bytes += Buffer.byteLength(String(value));
  }
  return bytes;
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
