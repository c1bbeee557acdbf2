/** What stands after a step, in the words of the file. */
import type { ControllerRevision, Pod } from "@quartet/core/kinds";
import type { Json } from "@quartet/testing/replay";
import { isMap, mapOf } from "../../src/json.ts";
import type { CaseStep, StepState } from "./format.ts";
import { type Answer, exchangeHold, type Place } from "./place.ts";
import { changesOf, countKey, describePod, nodeOf, type PodWatch, revisionOf } from "./pods.ts";
import type { Names } from "./steps.ts";

/** Fields of the status that the peer has. */
const STATUS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
  "updateRevision",
];

/** Numbers revisions in the order in which they are seen. */
export function createNames(): Names & { learn(revisions: readonly ControllerRevision[]): void } {
  const numbers = new Map<string, string>();
  return {
    numberOf: (hash) => numbers.get(hash) ?? (hash === "-" ? hash : `unknown ${hash}`),
    learn(revisions) {
      const sorted = [...revisions].sort((a, b) => a.revision - b.revision);
      for (const { metadata } of sorted) {
        const hash = metadata.labels?.["controller-revision-hash"] ?? "";
        if (!numbers.has(hash)) numbers.set(hash, `r${numbers.size + 1}`);
      }
    },
  };
}

export type CaseNames = ReturnType<typeof createNames>;

export async function revisionsOf(place: Place): Promise<ControllerRevision[]> {
  const path = place.path("/apis/apps/v1", "controllerrevisions");
  return (await place.client.ok<{ items: ControllerRevision[] }>("GET", path)).items;
}

/** The members of a state that the file records, as they are now. */
export async function stateOf(
  place: Place,
  {
    step,
    refused,
    before,
    recorded,
  }: {
    step: CaseStep;
    refused: Answer | undefined;
    before: ReturnType<PodWatch["seen"]>;
    recorded: StepState;
  },
  names: CaseNames,
): Promise<StepState> {
  if (step.op === "read") return { object: readObject(await place.daemonSet(step.version)) };
  names.learn(await revisionsOf(place));
  const daemonSet = await place.daemonSet();
  const pods = await place.pods();
  const changes = changesOf(before, place.watch.seen());
  const result: Record<string, unknown> = {
    ...podState(pods, changes, recorded, names),
    ...(daemonSet !== undefined && {
      status: statusOf(mapOf(daemonSet.status), names),
      generation: daemonSet.metadata.generation,
    }),
    ...(refused !== undefined && { error: errorOf(refused) }),
  };
  // Of a refused creation the file has the refusal alone.
  return Object.keys(recorded).join() === "error" ? { error: result.error } : result;
}

function podState(
  pods: readonly Pod[],
  changes: ReturnType<typeof changesOf>,
  recorded: StepState,
  names: Names,
): StepState {
  const withImages = JSON.stringify(recorded.pods ?? {}).includes('"images"');
  const described = pods.map((pod) => ({
    node: nodeOf(pod),
    pod: describePod(pod, names.numberOf(revisionOf(pod)), withImages),
  }));
  const byNode = Map.groupBy(described, ({ node }) => node);
  const inPlace = changes.inPlace.length > 0 && { inPlace: changes.inPlace };
  if (recorded.podCounts !== undefined) {
    const counts = Map.groupBy(described, ({ pod }) => countKey(pod));
    return {
      podCounts: Object.fromEntries([...counts].map(([key, { length }]) => [key, length])),
      podsPerNode: [...byNode.values()].map(({ length }) => length).sort((a, b) => b - a),
      createdCount: changes.created.length,
      deletedCount: changes.deleted.length,
      ...(recorded.inPlaceCount === undefined ? inPlace : { inPlaceCount: changes.inPlace.length }),
    };
  }
  const sorted = [...byNode].map(([node, list]) => [node, list.map(({ pod }) => pod).sort(inOrder)]);
  return { pods: Object.fromEntries(sorted), created: changes.created, deleted: changes.deleted, ...inPlace };
}

/** Pods of a node stand in no order of their own. */
function inOrder(a: Json, b: Json): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function statusOf(status: Json, { numberOf }: Names): Json {
  const known = STATUS.filter((field) => status[field] !== undefined).map((field) => [field, status[field]]);
  const result = Object.fromEntries(known) as Json;
  return {
    ...result,
    ...(result.updateRevision !== undefined && { updateRevision: numberOf(String(result.updateRevision)) }),
  };
}

interface Status {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: { readonly field?: string; readonly reason?: string }[] };
}

function errorOf({ code, body }: Answer): Json {
  const { reason, message = "", details } = body as Status;
  return { code, reason, message, causes: details?.causes ?? [] };
}

/** Of an object that is read: its version, annotations and spec. */
function readObject(
  object: { metadata: { annotations?: unknown }; apiVersion?: string; spec?: unknown } | undefined,
): Json | undefined {
  if (object === undefined) return undefined;
  const { apiVersion, metadata, spec } = object;
  return { apiVersion, annotations: metadata.annotations ?? null, spec };
}

/** Where the product stores a template as it was sent, the peer has written what Go makes of it (DSP-204). */
export function withoutGoForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutGoForm);
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, member]) =>
      member !== null && !(key === "resources" && isMap(member) && Object.keys(member).length === 0),
  );
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutGoForm(member)]));
}

/** Fields of a pod's metadata that the file leaves out. */
const FOREIGN = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
];
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Image id of the test's kubelets, and of the file's. */
const IMAGE_ID = /([^"\\]+)@sha256:[0-9a-f]{64}/g;

/** A whole pod in the words of the file. */
export function exactPod(pod: Pod, names: Names): Json {
  const revision = revisionOf(pod);
  const metadata = Object.fromEntries(
    Object.entries(pod.metadata).filter(([field]) => !FOREIGN.includes(field)),
  );
  const ownerReferences = pod.metadata.ownerReferences?.map(({ uid: _, ...owner }) => owner);
  const object = {
    metadata: { ...metadata, ...(ownerReferences && { ownerReferences }) },
    spec: withoutToken(mapOf(pod.spec)),
  };
  const text = JSON.stringify(exchangeHold(object, "recorded"))
    .replaceAll(revision, names.numberOf(revision))
    .replace(TIME, "<time>")
    .replace(IMAGE_ID, "sim://$1");
  return JSON.parse(text) as Json;
}

/** What the API server's admission fills in where it is a whole one. */
const ADMITTED = { serviceAccountName: "default", serviceAccount: "default" };

/** The spec without the volume that the API server adds for the service account. */
function withoutToken(spec: Json): Json {
  const isToken = (item: unknown): boolean => String(mapOf(item).name).startsWith("kube-api-access-");
  const rest = (list: unknown): unknown[] =>
    Array.isArray(list) ? list.filter((item) => !isToken(item)) : [];
  const volumes = rest(spec.volumes);
  const containers = (spec.containers as Json[]).map((container) => {
    const { volumeMounts, ...others } = container;
    const kept = rest(volumeMounts);
    return kept.length === 0 ? others : { ...others, volumeMounts: kept };
  });
  const { volumes: _, ...others } = spec;
  return { ...ADMITTED, ...others, containers, ...(volumes.length > 0 && { volumes }) };
}
