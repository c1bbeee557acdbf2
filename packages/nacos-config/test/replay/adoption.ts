/** Proves that the controller takes over what the peer made without changing a pod. */
import type { TestClient } from "@quartet/testing";
import {
  type Arena,
  type Difference,
  differences,
  type Json,
  type Outcome,
  type RecordedObject,
  type Scene,
} from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import type { RecordedAdoption } from "./format.ts";
import { rest, takeSnapshot } from "./snapshot.ts";

const REVISION_ANNOTATION = "nacos.io/template-revision";
/** Labels and selector of a Job that its API server assigns. */
const JOB_LABEL = /controller-uid$|job-name$/;
const STATUS_PATCH = { contentType: "application/merge-patch+json" };
/** In this time the workload controller looks at a new StatefulSet. */
const WORKLOAD_MS = 60_000;
/** In this time the controller takes over a StatefulSet. */
const ADOPTION_MS = 60_000;
/** In this time the pods are created, unless they cannot be. */
const PODS_MS = 5_000;

/** Plays an adoption in a namespace of its own. Never rejects: what goes wrong is in the outcome. */
export async function playAdoption(arena: Arena, row: RecordedAdoption): Promise<Outcome> {
  const objects = [row.resource, ...row.sources, row.statefulSet, ...row.otherChildren];
  try {
    const scene = await arena.openScene(objects);
    try {
      const faults = await adopt(arena.client, scene, row);
      return { verdict: faults.length > 0 ? "failed" : "passed", differences: faults, faults };
    } finally {
      await scene.close();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { verdict: "failed", differences: [], faults: [], error: message };
  }
}

async function adopt(client: TestClient, scene: Scene, row: RecordedAdoption): Promise<Difference[]> {
  await createAll(client, scene, row);
  await eventually(async () => {
    const { status } = await stateful(client, scene, row);
    if (status?.updateRevision === undefined)
      throw new Error("the StatefulSet got no revision: no workload controller");
  }, WORKLOAD_MS);
  await eventually(async () => {
    const { length } = Object.keys((await stateOf(client, scene, row)).pods);
    if (length < Number((row.statefulSet.spec as Json).replicas ?? 1)) throw new Error("pods are missing");
  }, PODS_MS).catch(() => {}); // pods that cannot be created cannot be rolled either
  const before = await stateOf(client, scene, row);
  const manager = await scene.startManager();
  try {
    await eventually(async () => {
      const { metadata } = await stateful(client, scene, row);
      if (metadata.annotations?.[REVISION_ANNOTATION] !== undefined) return;
      const conditions = await conditionsOf(client, scene, row);
      // What the product finds invalid it leaves as it is, without a mark.
      if (conditions.some(({ type, status }) => type === "SpecValid" && status === "False")) return;
      throw new Error(`the StatefulSet is not adopted: ${JSON.stringify(conditions)}`);
    }, ADOPTION_MS);
    await rest({
      read: () => takeSnapshot(client, scene, row.resource),
      asRecorded: () => true,
      decided: false,
      thorough: true,
    });
    return compare(row, before, await stateOf(client, scene, row));
  } finally {
    await manager.stop();
  }
}

/** Sources, resource, and with its uid in their owner references the children. */
async function createAll(client: TestClient, scene: Scene, row: RecordedAdoption): Promise<void> {
  const create = async (object: RecordedObject): Promise<{ metadata: { uid: string } }> =>
    client.ok("POST", await scene.pathOf(object), scene.here(object));
  for (const source of row.sources) await create(source);
  const { status: _recorded, ...resource } = row.resource;
  const { uid } = (await create(resource as RecordedObject)).metadata;
  const path = await scene.pathOf(row.resource, row.resource.metadata.name);
  await client.ok("PATCH", `${path}/status`, { status: { phase: "Running", healthy: true } }, STATUS_PATCH);
  for (const child of [...row.otherChildren, row.statefulSet]) await create(owned(child, uid));
}

function owned(child: RecordedObject, uid: string): RecordedObject {
  const owners = ((child.metadata.ownerReferences ?? []) as Json[]).map((owner) => ({ ...owner, uid }));
  const object: RecordedObject = { ...child, metadata: { ...child.metadata, ownerReferences: owners } };
  if (object.kind !== "Job") return object;
  const { selector: _assigned, template, ...spec } = object.spec as Json & { template: { metadata?: Json } };
  const labels = Object.entries((template.metadata?.labels ?? {}) as Json).filter(
    ([key]) => !JOB_LABEL.test(key),
  );
  const { namespace: _recorded, ...metadata } = template.metadata ?? {};
  return {
    ...object,
    spec: {
      ...spec,
      template: { ...template, metadata: { ...metadata, labels: Object.fromEntries(labels) } },
    },
  };
}

interface Live extends RecordedObject {
  metadata: RecordedObject["metadata"] & { uid: string; annotations?: Record<string, string> };
  status?: Json;
}

async function stateful(client: TestClient, scene: Scene, { statefulSet }: RecordedAdoption): Promise<Live> {
  return client.ok("GET", await scene.pathOf(statefulSet, statefulSet.metadata.name));
}

/** What clients reach a Service by. */
function addressOf({ spec }: Live): Json {
  const { type, clusterIP, ports } = spec as Json;
  return { type, clusterIP, ports };
}

interface State {
  readonly template: unknown;
  readonly selector: unknown;
  readonly updateRevision: unknown;
  /** Uid by name. */
  readonly pods: Readonly<Record<string, string>>;
  /** Types, addresses and ports, node ports too. */
  readonly services: Readonly<Record<string, unknown>>;
}

/** What adoption must leave alone. */
async function stateOf(client: TestClient, scene: Scene, row: RecordedAdoption): Promise<State> {
  const { metadata, spec, status } = await stateful(client, scene, row);
  const podKind = { ...row.statefulSet, apiVersion: "v1", kind: "Pod" };
  const { items } = await client.ok<{ items: Live[] }>("GET", await scene.pathOf(podKind));
  const pods = items.filter((pod) =>
    ((pod.metadata.ownerReferences ?? []) as { uid: string }[]).some(({ uid }) => uid === metadata.uid),
  );
  const services: Record<string, unknown> = {};
  for (const child of row.otherChildren.filter(({ kind }) => kind === "Service")) {
    const { code, body } = await client.request<Live>("GET", await scene.pathOf(child, child.metadata.name));
    services[`Service/${child.metadata.name}`] = code === 200 ? addressOf(body) : undefined;
  }
  const { template, selector } = spec as Json;
  return {
    template,
    selector,
    updateRevision: status?.updateRevision,
    pods: Object.fromEntries(pods.map((pod) => [pod.metadata.name, pod.metadata.uid])),
    services,
  };
}

function compare({ statefulSet, expect }: RecordedAdoption, before: State, after: State): Difference[] {
  const set = `StatefulSet/${statefulSet.metadata.name}`;
  const template = differences(before.template, after.template, `${set} spec.template`);
  const kept = [
    ...differences(before.selector, after.selector, `${set} spec.selector`),
    ...Object.keys(before.services).flatMap((key) =>
      differences(before.services[key], after.services[key], `${key} `),
    ),
  ];
  if (expect.templateChanged)
    return template.length > 0
      ? kept
      : [...kept, { path: `${set} templateChanged`, expected: true, actual: false }];
  return [
    ...template,
    ...kept,
    ...differences(before.updateRevision, after.updateRevision, `${set} status.updateRevision`),
    ...differences(staying(before.pods, after.pods), staying(after.pods, before.pods), "pods by uid"),
  ];
}

/** Pods that there are on both sides: the others came or went with the number of replicas. */
function staying(pods: State["pods"], others: State["pods"]): Json {
  return Object.fromEntries(Object.entries(pods).filter(([name]) => others[name] !== undefined));
}

async function conditionsOf(
  client: TestClient,
  scene: Scene,
  { resource }: RecordedAdoption,
): Promise<Json[]> {
  const live = await client.ok<Live>("GET", await scene.pathOf(resource, resource.metadata.name));
  return (live.status?.operatorConditions ?? []) as Json[];
}
