/** Nodes and DaemonSets of a scenario. Nodes are shared by all scenarios of a server: each set runs on its own alone. */
import { addNode, liveList, OWN_NODE_TAINT, removeNode, TEST_ANNOTATIONS } from "@quartet/testing";
import { eventually, type Stage } from "@quartet/testing/stage";
import { expect } from "vitest";
import type { DaemonSet } from "../../src/kinds.ts";

const NAME = "agent";
const SETS = "/apis/apps.kruise.io/v1beta1";
/** Node label by which a scenario's DaemonSet finds its own nodes. */
const OWNER = "scenario";

export interface LivePod {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
    ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[];
  };
  spec: {
    nodeName?: string;
    containers: { image: string; env: { name: string; value: string }[]; resources?: object }[];
    readinessGates?: { conditionType: string }[];
    tolerations?: { key?: string }[];
  };
  status?: {
    phase?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { restartCount: number }[];
  };
}

/** The container of the rule book's base DaemonSet. */
export const container = (more: object = {}): object => ({
  name: "main",
  image: "agent:1",
  env: [
    { name: "CACHE", value: "500Gi" },
    { name: "MODE", value: "std" },
  ],
  ...more,
});

/** A merge patch of the DaemonSet that gives it another container, and with it another template. */
export const withContainer = (more: object): { spec: object } => ({
  spec: { template: { spec: { containers: [container(more)] } } },
});

export type NodeRequest =
  | string
  | {
      readonly name: string;
      readonly labels?: Record<string, string>;
      readonly taints?: { key: string; value?: string; effect: "NoSchedule" | "NoExecute" }[];
    };

/** Nodes by names of the scenario; on the server they carry its namespace as well. */
export interface DaemonNodes {
  add(...nodes: NodeRequest[]): Promise<void>;
  label(name: string, labels: Record<string, string | null>): Promise<void>;
  annotate(name: string, annotations: Record<string, string>): Promise<void>;
  taint(name: string, ...taints: { key: string; value?: string; effect: string }[]): Promise<void>;
  /** The kubelet of a node stops, or works again; resolves when the node says so. */
  setReady(name: string, ready: boolean): Promise<void>;
  remove(name: string): Promise<void>;
  /** Name in the scenario of a node of the server. */
  shortName(node: string): string;
  readonly selector: Record<string, string>;
}

export async function createNodes(stage: Stage): Promise<DaemonNodes> {
  const { client, namespace } = stage;
  const fullName = (name: string): string => `${namespace}-${name}`;
  const merge = (name: string, metadata: object): Promise<unknown> =>
    client.ok(
      "PATCH",
      `/api/v1/nodes/${fullName(name)}`,
      { metadata },
      {
        contentType: "application/merge-patch+json",
      },
    );
  return {
    selector: { [OWNER]: namespace },
    shortName: (node) => node.slice(namespace.length + 1),
    async add(...nodes) {
      for (const node of nodes) {
        const { name, labels = {}, taints = [] } = typeof node === "string" ? { name: node } : node;
        await addNode(client, fullName(name), {
          labels: { ...labels, [OWNER]: namespace },
          taints: [...taints, OWN_NODE_TAINT],
        });
        stage.onClose(() => client.request("DELETE", `/api/v1/nodes/${fullName(name)}`));
      }
    },
    label: async (name, labels) => void (await merge(name, { labels })),
    annotate: async (name, annotations) => void (await merge(name, { annotations })),
    remove: (name) => removeNode(client, fullName(name)),
    async taint(name, ...taints) {
      const contentType = "application/merge-patch+json";
      const spec = { taints: [...taints, OWN_NODE_TAINT] };
      await client.ok("PATCH", `/api/v1/nodes/${fullName(name)}`, { spec }, { contentType });
    },
    async setReady(name, ready) {
      await merge(name, { annotations: { [TEST_ANNOTATIONS.nodeNotReady]: ready ? null : "true" } });
      await eventually(async () => {
        const node = await client.ok<{ spec: { taints?: { key: string }[] } }>(
          "GET",
          `/api/v1/nodes/${fullName(name)}`,
        );
        const isTainted = (node.spec.taints ?? []).some(({ key }) => key === "node.kubernetes.io/not-ready");
        expect(isTainted).toBe(!ready);
      });
    },
  };
}

export interface DaemonSets {
  /** The rule book's base DaemonSet with this in its spec. */
  create(spec: object): Promise<void>;
  get(): Promise<DaemonSet>;
  /** JSON merge patch. */
  patch(body: object): Promise<void>;
  /** Resolves when so many nodes have an available, current pod and the status says so of this generation. */
  settled(count: number): Promise<DaemonSet>;
  /** Pods that are not being deleted. */
  pods(): Promise<LivePod[]>;
  deletePod(pod: LivePod): Promise<void>;
  /** JSON merge patch of a pod. */
  patchPod(pod: LivePod, body: object, subresource?: string): Promise<void>;
  /** The live pods by the short names of their nodes; the newest where there are two. */
  byNode(): Promise<Map<string, LivePod>>;
  /** Reasons of the events on the DaemonSet, with their notes. */
  events(): Promise<{ reason: string; note: string }[]>;
  revisions(): Promise<object[]>;
  /** Deletes the DaemonSet; whatever holds it or its pods is not waited for. */
  delete(): Promise<void>;
  /** Deletes the DaemonSet and leaves its pods; resolves when they have lost it. */
  orphan(): Promise<void>;
  /** Follows the number of nodes without a ready pod, change by change; `most` ends it. */
  watchUnavailable(): Promise<{ most(): Promise<number> }>;
}

export function daemonSetsOf({ client, namespace }: Stage, nodes: DaemonNodes): DaemonSets {
  const path = `${SETS}/namespaces/${namespace}/daemonsets`;
  const podsPath = `/api/v1/namespaces/${namespace}/pods`;
  const pods = async (): Promise<LivePod[]> => {
    const { items } = await client.ok<{ items: LivePod[] }>("GET", podsPath);
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  };
  const get = (): Promise<DaemonSet> => client.ok("GET", `${path}/${NAME}`);
  return {
    get,
    pods,
    async create(spec) {
      await client.ok("POST", path, {
        apiVersion: "apps.kruise.io/v1beta1",
        kind: "DaemonSet",
        metadata: { name: NAME },
        spec: {
          selector: { matchLabels: { app: NAME } },
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
          template: {
            metadata: { labels: { app: NAME } },
            spec: { nodeSelector: nodes.selector, containers: [container()] },
          },
          ...spec,
        },
      });
    },
    async patch(body) {
      await client.ok("PATCH", `${path}/${NAME}`, body, { contentType: "application/merge-patch+json" });
    },
    settled: (count) =>
      eventually(async () => {
        const daemonSet = await get();
        expect(daemonSet.status).toMatchObject({
          observedGeneration: daemonSet.metadata.generation,
          desiredNumberScheduled: count,
          updatedNumberScheduled: count,
          numberAvailable: count,
        });
        return daemonSet;
      }, 60_000),
    async patchPod({ metadata }, body, subresource) {
      const pod = `/api/v1/namespaces/${namespace}/pods/${metadata.name}`;
      const target = subresource === undefined ? pod : `${pod}/${subresource}`;
      await client.ok("PATCH", target, body, { contentType: "application/merge-patch+json" });
    },
    async byNode() {
      const sorted = (await pods()).sort(
        (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
      );
      return new Map(sorted.map((pod) => [nodes.shortName(pod.spec.nodeName ?? ""), pod]));
    },
    async events() {
      const list = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const { items } = await client.ok<{
        items: { reason: string; note: string; regarding: { kind: string } }[];
      }>("GET", list);
      return items
        .filter(({ regarding }) => regarding.kind === "DaemonSet")
        .map(({ reason, note }) => ({ reason, note }));
    },
    async deletePod({ metadata }) {
      await client.ok("DELETE", `/api/v1/namespaces/${namespace}/pods/${metadata.name}`);
    },
    async delete() {
      await client.ok("DELETE", `${path}/${NAME}`);
    },
    async orphan() {
      await client.ok("DELETE", `${path}/${NAME}?propagationPolicy=Orphan`);
      await eventually(async () => {
        for (const { metadata } of await pods()) expect(metadata.ownerReferences ?? []).toEqual([]);
        expect((await client.request("GET", `${path}/${NAME}`)).code).toBe(404);
      });
    },
    async revisions() {
      const list = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
      return (await client.ok<{ items: object[] }>("GET", list)).items;
    },
    async watchUnavailable() {
      const abort = new AbortController();
      const total = (await get()).status?.desiredNumberScheduled ?? 0;
      let most = 0;
      let current: ReadonlyMap<string, LivePod> | undefined;
      const follow = async (): Promise<void> => {
        for await (const now of liveList<LivePod>(client, podsPath, abort.signal)) {
          current = now;
          most = Math.max(most, total - [...now.values()].filter(isReady).length);
        }
      };
      const done = follow();
      /** Resolves when what the watch has told is what a list tells. */
      const isCurrent = (): Promise<void> =>
        eventually(async () => {
          const listed = (await client.ok<{ items: LivePod[] }>("GET", podsPath)).items;
          expect(versions([...(current?.values() ?? [])])).toEqual(versions(listed));
        });
      await isCurrent();
      return {
        async most() {
          await isCurrent();
          abort.abort();
          await done;
          return most;
        },
      };
    },
  };
}

/** A pod that serves; one that is being deleted does not. */
const isReady = ({ metadata, status }: LivePod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions ?? []).some((condition) => condition.type === "Ready" && condition.status === "True");

const versions = (pods: readonly LivePod[]): string[] =>
  pods.map(({ metadata }) => metadata.resourceVersion).sort();
