/** Kubelet, scheduler and workload controllers of a small cluster, for servers that have none of their own. */
import type { ApiServer } from "../api-server.ts";
import { testClient } from "../request.ts";
import { type Cluster, openCluster } from "./cluster.ts";
import { startDaemonSets } from "./daemonsets.ts";
import { startJobs } from "./jobs.ts";
import { startKubelet, startNodes } from "./kubelet.ts";
import { startDeployments, startReplicaSets } from "./replicasets.ts";
import { startScheduler } from "./scheduler.ts";
import { startStatefulSets } from "./statefulsets.ts";
import type { Worker } from "./worker.ts";

export type MiniKubeletPart =
  | "kubelet"
  | "nodes"
  | "scheduler"
  | "statefulsets"
  | "replicasets"
  | "deployments"
  | "daemonsets"
  | "jobs";

const PARTS: Readonly<Record<MiniKubeletPart, (cluster: Cluster) => Worker>> = {
  kubelet: startKubelet,
  nodes: startNodes,
  scheduler: startScheduler,
  statefulsets: startStatefulSets,
  replicasets: startReplicaSets,
  deployments: startDeployments,
  daemonsets: startDaemonSets,
  jobs: startJobs,
};

export interface MiniKubeletOptions {
  /** Nodes that it creates at its start when they are missing. Default `["node-0"]`. */
  nodes?: readonly string[];
  /** Range of pod addresses, a /16: `10.1.0.0/16` (default) or `127.1.0.0/16`, where a test server can listen on them. */
  podCidr?: string;
  /** What to play. Default: everything. */
  parts?: readonly MiniKubeletPart[];
}

export interface MiniKubelet {
  stop(): Promise<void>;
}

const DEFAULT_NODES = ["node-0"];
/** The range of the real test cluster's pods. */
const DEFAULT_CIDR = "10.1.0.0/16";
const CONFLICT = 409;

/** Addresses of a /16, one after the other; the pods of a test never use them up. */
function addresses(cidr: string): () => string {
  const match = /^(\d+\.\d+)\.0\.0\/16$/.exec(cidr);
  if (match === null) throw new Error(`podCidr: ${JSON.stringify(cidr)} is no /16 such as 10.1.0.0/16`);
  let next = 1;
  return () => {
    next += 1;
    return `${match[1]}.${Math.floor(next / 256) % 256}.${next % 256}`;
  };
}

async function createNode(cluster: Cluster, name: string): Promise<void> {
  const answer = await cluster.client.request<{ message?: string }>("POST", "/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
  });
  if (answer.code >= 400 && answer.code !== CONFLICT) throw new Error(answer.body.message);
}

/**
 * Starts the mini-kubelet on a server, be it the double or a real one without controllers. Pods obey the annotations of
 * `TEST_ANNOTATIONS`. Resolves when it has read the state of the cluster.
 */
export async function startMiniKubelet(
  server: ApiServer,
  options: MiniKubeletOptions = {},
): Promise<MiniKubelet> {
  const abort = new AbortController();
  const client = testClient(await server.kubeconfig({ user: "quartet-mini-kubelet" }));
  const cluster = openCluster(client, abort.signal, addresses(options.podCidr ?? DEFAULT_CIDR));
  for (const name of options.nodes ?? DEFAULT_NODES) await createNode(cluster, name);
  const parts = options.parts ?? (Object.keys(PARTS) as MiniKubeletPart[]);
  const workers: Worker[] = parts.map((part) => PARTS[part](cluster));
  const { pods, nodes, statefulSets, replicaSets, deployments, daemonSets, jobs } = cluster;
  for (const informer of [nodes, pods, statefulSets, replicaSets, deployments, daemonSets, jobs])
    await informer.start();
  return {
    async stop() {
      for (const worker of workers) worker.stop();
      abort.abort();
      client.close();
    },
  };
}
