/** One case's nodes and namespace, and the requests that its steps are made of. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "@quartet/core/kinds";
import { addNode, removeNode, TEST_ANNOTATIONS, type TestClient } from "@quartet/testing";
import type { Json, RecordedObject } from "@quartet/testing/replay";
import type { DaemonSet } from "../../src/kinds.ts";
import type { CaseNode, DaemonSetCase } from "./format.ts";
import type { Ground } from "./ground.ts";
import { nodeOf, type PodWatch, watchPods } from "./pods.ts";

const MERGE = { contentType: "application/merge-patch+json" };
/** Annotation in the file by which a pod stays unready. */
const RECORDED_HOLD = "corpus/hold";
const POLL_MS = 100;
/** Time for the namespace's service account, for taints of a node that is not ready, and for what ends with a case, ms. */
const PATIENCE_MS = 20_000;

export interface Answer {
  readonly code: number;
  readonly body: Json;
}

export interface Place {
  readonly client: TestClient;
  readonly watch: PodWatch;
  /** Name of the case's DaemonSet. */
  readonly name: string;
  /** Path of a namespaced resource, as `/api/v1` and `pods`. */
  path(api: string, resource: string, name?: string): string;
  create(object: RecordedObject): Promise<Answer>;
  patchDaemonSet(patch: Json, version: string): Promise<Answer>;
  daemonSet(version?: string): Promise<DaemonSet | undefined>;
  pods(): Promise<Pod[]>;
  /** Merge patch of pods on a node, or of all. */
  patchPods(isOne: (pod: Pod) => boolean, patch: Json, subresource?: string): Promise<void>;
  addNode(node: CaseNode): Promise<void>;
  patchNode(name: string, patch: Json): Promise<void>;
  close(): Promise<void>;
}

/** A part of the file with the annotation that holds pods here, or the other way round. */
export function exchangeHold<T>(value: T, direction: "here" | "recorded"): T {
  const [from, to] =
    direction === "here" ? [RECORDED_HOLD, TEST_ANNOTATIONS.hold] : [TEST_ANNOTATIONS.hold, RECORDED_HOLD];
  return JSON.parse(JSON.stringify(value).replaceAll(`"${from}"`, `"${to}"`)) as T;
}

/** A namespace and the nodes of a case on a ground without others. */
export async function openPlace({ arena, real }: Ground, row: DaemonSetCase): Promise<Place> {
  const { client } = arena;
  const first = row.steps.find(({ object }) => object !== undefined)?.object;
  const scene = await arena.openScene(first === undefined ? [] : [first]);
  const [namespace = ""] = scene.namespaces;
  const name = first?.metadata.name ?? "agent";
  const path = (api: string, resource: string, one = ""): string =>
    `${api}/namespaces/${namespace}/${resource}${one === "" ? "" : `/${one}`}`;
  const daemonSets = (version: string, one?: string): string =>
    path(`/apis/apps.kruise.io/${version}`, "daemonsets", one);
  const nodes = new Set<string>();
  const watch = watchPods(client, namespace);
  const pods = async (): Promise<Pod[]> =>
    (await client.ok<{ items: Pod[] }>("GET", path("/api/v1", "pods"))).items;
  const place: Place = {
    client,
    watch,
    name,
    path,
    pods,
    async create(object) {
      const { apiVersion } = object;
      const body = exchangeHold(scene.here(object), "here");
      return client.request<Json>("POST", daemonSets(apiVersion.split("/")[1] ?? ""), body);
    },
    patchDaemonSet: (patch, version) =>
      client.request<Json>("PATCH", daemonSets(version, name), exchangeHold(patch, "here"), MERGE),
    async daemonSet(version = "v1beta1") {
      const { code, body } = await client.request<DaemonSet>("GET", daemonSets(version, name));
      return code === 200 ? body : undefined;
    },
    async patchPods(isOne, patch, subresource) {
      for (const pod of (await pods()).filter(isOne)) {
        const target = `${path("/api/v1", "pods", pod.metadata.name)}${subresource === undefined ? "" : `/${subresource}`}`;
        // A pod that goes meanwhile needs no patch.
        await client.request("PATCH", target, exchangeHold(patch, "here"), MERGE);
      }
    },
    async addNode(node) {
      nodes.add(node.name);
      await openNode(client, node);
    },
    patchNode: async (node, patch) => void (await client.ok("PATCH", `/api/v1/nodes/${node}`, patch, MERGE)),
    async close() {
      watch.stop();
      await closeAll();
    },
  };
  const closeAll = async (): Promise<void> => {
    await client.request("DELETE", daemonSets("v1beta1", name));
    // Finalizers that a case leaves behind keep nobody else's place.
    await place.patchPods(({ metadata }) => metadata.finalizers !== undefined, {
      metadata: { finalizers: null },
    });
    await until(async () => (await place.daemonSet()) === undefined);
    await scene.close();
    // Without its node nobody would end a pod.
    await until(async () => (await pods()).length === 0);
    for (const node of nodes) await removeNode(client, node);
  };
  if (real)
    await until(async () => {
      const { code } = await client.request("GET", path("/api/v1", "serviceaccounts", "default"));
      return code === 200;
    });
  for (const node of row.nodes) await place.addNode(node);
  return place;
}

async function openNode(client: TestClient, node: CaseNode): Promise<void> {
  const { name, labels = {}, taints = [], unschedulable = false, ready = true } = node;
  const annotations = ready ? {} : { [TEST_ANNOTATIONS.nodeNotReady]: "true" };
  await addNode(client, name, { labels, taints, annotations, wait: ready });
  if (unschedulable) await client.ok("PATCH", `/api/v1/nodes/${name}`, { spec: { unschedulable } }, MERGE);
}

/** Waits for something that comes about in its own time, but not for ever. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isDone()) && performance.now() < deadline) await sleep(POLL_MS);
}

/** Whether a pod is on a node. */
export const isOn =
  (node: string) =>
  (pod: Pod): boolean =>
    nodeOf(pod) === node;
