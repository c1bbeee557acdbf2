/** What there is of a case's objects at one moment, and the wait until nothing changes any more. */
import type { TestClient } from "@quartet/testing";
import {
  type Json,
  type RecordedObject,
  type RestOptions,
  type Scene,
  untilRest,
} from "@quartet/testing/replay";

/** Kinds that a resource can own. */
const CHILD_KINDS = [
  { apiVersion: "apps/v1", kind: "StatefulSet" },
  { apiVersion: "v1", kind: "Service" },
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "v1", kind: "Secret" },
  { apiVersion: "batch/v1", kind: "Job" },
];

interface Live extends RecordedObject {
  metadata: RecordedObject["metadata"] & {
    uid: string;
    generation?: number;
    ownerReferences?: { kind: string; name: string }[];
  };
  status?: Json;
}

export interface Snapshot {
  /** `undefined`: there is none. */
  readonly resource: Live | undefined;
  readonly statefulSet: Live | undefined;
  /** Objects that belong to the resource, with recorded namespaces. */
  readonly children: readonly Live[];
}

/** Reads the resource of a case and everything that belongs to it. */
export async function takeSnapshot(
  client: TestClient,
  scene: Scene,
  nacos: RecordedObject,
): Promise<Snapshot> {
  const { name, namespace } = nacos.metadata;
  const found = await client.request<Live>("GET", await scene.pathOf(nacos, name));
  const lists = CHILD_KINDS.map(async ({ apiVersion, kind }) => {
    const collection = {
      apiVersion,
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    };
    const { items } = await client.ok<{ items: Live[] }>("GET", await scene.pathOf(collection));
    const owned = items.filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.kind === "Nacos" && owner.name === name),
    );
    return owned.map((item) => scene.recorded({ ...item, apiVersion, kind }));
  });
  const children = (await Promise.all(lists)).flat();
  return {
    resource: found.code === 404 ? undefined : found.body,
    statefulSet: children.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name === name),
    children,
  };
}

/** {@link untilRest} of a case's objects. */
export function rest(options: Omit<RestOptions<Snapshot>, "stateOf" | "isMoving">): Promise<Snapshot> {
  return untilRest({ ...options, stateOf, isMoving: isRolling });
}

/** What must not change any more. */
function stateOf({ resource, children }: Snapshot): string {
  const { phase, healthy, configDigest, operatorConditions } = (resource?.status ?? {}) as Json;
  return JSON.stringify([
    resource?.metadata.uid,
    [phase, healthy, configDigest, conditions(operatorConditions)],
    children.map(
      ({ metadata: { resourceVersion: _version, managedFields: _managed, ...metadata }, ...child }) => ({
        ...child,
        metadata,
      }),
    ),
  ]);
}

/** Conditions without times. */
function conditions(list: unknown): Json[] {
  return ((list ?? []) as Json[]).map(({ type, status, reason }) => ({ type, status, reason }));
}

/** Pods are being replaced. Ones that only came or went do not count: nothing follows from them. */
function isRolling({ statefulSet }: Snapshot): boolean {
  if (statefulSet === undefined) return false;
  const { observedGeneration, currentRevision, updateRevision } = statefulSet.status ?? {};
  return observedGeneration !== statefulSet.metadata.generation || currentRevision !== updateRevision;
}
