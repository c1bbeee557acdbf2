/** Nodes and DaemonSets of a scenario. Nodes are shared by all scenarios of a server: each set runs on its own alone. */
import { addNode } from "@quartet/testing";
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
  };
  spec: { nodeName?: string; containers: { image: string; env: { name: string; value: string }[] }[] };
  status?: { conditions?: { type: string; status: string }[] };
}

export type NodeRequest = string | { readonly name: string; readonly labels?: Record<string, string> };

/** Nodes by names of the scenario; on the server they carry its namespace as well. */
export interface DaemonNodes {
  add(...nodes: NodeRequest[]): Promise<void>;
  label(name: string, labels: Record<string, string | null>): Promise<void>;
  annotate(name: string, annotations: Record<string, string>): Promise<void>;
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
        const { name, labels = {} } = typeof node === "string" ? { name: node } : node;
        await addNode(client, fullName(name), { labels: { ...labels, [OWNER]: namespace } });
        stage.onClose(() => client.request("DELETE", `/api/v1/nodes/${fullName(name)}`));
      }
    },
    label: async (name, labels) => void (await merge(name, { labels })),
    annotate: async (name, annotations) => void (await merge(name, { annotations })),
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
  revisions(): Promise<object[]>;
  /** Follows the number of nodes without a ready pod. */
  watchUnavailable(): { most(): Promise<number> };
}

export function daemonSetsOf({ client, namespace }: Stage, nodes: DaemonNodes): DaemonSets {
  const path = `${SETS}/namespaces/${namespace}/daemonsets`;
  const pods = async (): Promise<LivePod[]> => {
    const { items } = await client.ok<{ items: LivePod[] }>("GET", `/api/v1/namespaces/${namespace}/pods`);
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
            spec: {
              nodeSelector: nodes.selector,
              containers: [
                {
                  name: "main",
                  image: "agent:1",
                  env: [
                    { name: "CACHE", value: "500Gi" },
                    { name: "MODE", value: "std" },
                  ],
                },
              ],
            },
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
    async deletePod({ metadata }) {
      await client.ok("DELETE", `/api/v1/namespaces/${namespace}/pods/${metadata.name}`);
    },
    async revisions() {
      const list = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
      return (await client.ok<{ items: object[] }>("GET", list)).items;
    },
    watchUnavailable() {
      const abort = new AbortController();
      const state = { most: 0 };
      const done = follow();
      async function follow(): Promise<void> {
        const total = (await get()).status?.desiredNumberScheduled ?? 0;
        while (!abort.signal.aborted) {
          const ready = (await pods()).filter(({ status }) =>
            status?.conditions?.some(
              (condition) => condition.type === "Ready" && condition.status === "True",
            ),
          );
          state.most = Math.max(state.most, total - ready.length);
        }
      }
      return {
        async most() {
          abort.abort();
          await done;
          return state.most;
        },
      };
    },
  };
}
