/** What there is of a case's objects at one moment, and the wait until nothing changes any more. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";
import type { Scene } from "./arena.ts";
import type { Json, RecordedObject } from "./format.ts";

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

/** How often the objects are looked at, in milliseconds. */
const POLL_MS = 400;
/** Rest when all is as recorded, longer than the debounce of configuration edits. */
const REST_MS = 2_000;
/** Rest when it is not: a slow machine gets the time to bring it about. */
const PATIENT_REST_MS = 15_000;
/** The same when it is known to come out otherwise. */
const DECIDED_REST_MS = 8_000;
/** Rest of pods that cannot go on: longer than the 10 s for which a new pod must have been ready. */
const STUCK_REST_MS = 25_000;
/** By then everything must have come to rest. */
const LIMIT_MS = 150_000;

export interface RestOptions {
  read(): Promise<Snapshot>;
  /** The snapshot is as recorded: a shorter rest is enough. */
  asRecorded(snapshot: Snapshot): boolean;
  /** The product decides otherwise: it need not come out as recorded. */
  decided: boolean;
  /** Even what is as recorded must not change while pods are replaced. */
  thorough: boolean;
}

/** The state in which nothing changes any more. Rejects when there is none. */
export async function rest({ read, asRecorded, decided, thorough }: RestOptions): Promise<Snapshot> {
  const start = performance.now();
  let since = start;
  let before = "";
  for (;;) {
    const snapshot = await read();
    const now = performance.now();
    const state = stateOf(snapshot);
    if (state !== before) since = now;
    before = state;
    const done = asRecorded(snapshot);
    const rolling = isRolling(snapshot) && (thorough || !done);
    const wanted = rolling ? STUCK_REST_MS : done ? REST_MS : decided ? DECIDED_REST_MS : PATIENT_REST_MS;
    if (now - since >= wanted) return snapshot;
    if (now - start > LIMIT_MS) throw new Error(`no rest within ${LIMIT_MS / 1000} s: objects keep changing`);
    await sleep(POLL_MS);
  }
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
