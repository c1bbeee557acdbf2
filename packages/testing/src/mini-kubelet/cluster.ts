/** What the parts of the mini-kubelet share: caches, writes, time. */
import type { TestClient } from "../request.ts";
import { createInformer, type Informer } from "./informer.ts";
import type { Base, DaemonSet, Deployment, Job, Node, Pod, ReplicaSet, StatefulSet } from "./objects.ts";

export interface Cluster {
  client: TestClient;
  signal: AbortSignal;
  now(): number;
  pods: Informer<Pod>;
  nodes: Informer<Node>;
  statefulSets: Informer<StatefulSet>;
  replicaSets: Informer<ReplicaSet>;
  deployments: Informer<Deployment>;
  daemonSets: Informer<DaemonSet>;
  jobs: Informer<Job>;
  /** Free address for a pod. */
  allocateIp(): string;
}

const MERGE = { contentType: "application/merge-patch+json" };
const CONFLICT = 409;
const NOT_FOUND = 404;

export function openCluster(client: TestClient, signal: AbortSignal, allocateIp: () => string): Cluster {
  return {
    client,
    signal,
    now: Date.now,
    allocateIp,
    pods: createInformer(client, "/api/v1/pods", signal),
    nodes: createInformer(client, "/api/v1/nodes", signal),
    statefulSets: createInformer(client, "/apis/apps/v1/statefulsets", signal),
    replicaSets: createInformer(client, "/apis/apps/v1/replicasets", signal),
    deployments: createInformer(client, "/apis/apps/v1/deployments", signal),
    daemonSets: createInformer(client, "/apis/apps/v1/daemonsets", signal),
    jobs: createInformer(client, "/apis/batch/v1/jobs", signal),
  };
}

export function podPath(pod: Pick<Pod, "metadata">): string {
  return `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
}

/** Creates a pod; one that exists already is no error. */
export async function createPod(cluster: Cluster, namespace: string, body: object): Promise<void> {
  const answer = await cluster.client.request<Pod & { message: string }>(
    "POST",
    `/api/v1/namespaces/${namespace}/pods`,
    body,
  );
  if (answer.code === CONFLICT) return;
  if (answer.code >= 400) throw new Error(answer.body.message);
  cluster.pods.note(answer.body);
}

/** Asks for the end of a pod, or with `graceSeconds` 0 carries it out. */
export async function deletePod(cluster: Cluster, pod: Pod, graceSeconds?: number): Promise<void> {
  const options = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: pod.metadata.uid },
    ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
  };
  const answer = await cluster.client.request<Pod>("DELETE", podPath(pod), options);
  if (answer.code === CONFLICT || answer.code === NOT_FOUND) return;
  const left = answer.body.metadata?.deletionTimestamp !== undefined && graceSeconds !== 0;
  if (left) cluster.pods.note(answer.body);
  else cluster.pods.forget(pod);
}

/** Patches the status when it differs in the given fields; refused when the object has changed meanwhile. */
export async function writeStatus<T extends Base & { status?: object }>(
  cluster: Cluster,
  informer: Informer<T>,
  path: string,
  object: T,
  status: Record<string, unknown>,
): Promise<void> {
  const current = (object.status ?? {}) as Record<string, unknown>;
  const differs = Object.entries(status).some(([key, value]) => !same(current[key], value));
  if (!differs) return;
  const { resourceVersion } = object.metadata;
  const patched = await cluster.client.ok<T>(
    "PATCH",
    `${path}/status`,
    { metadata: { resourceVersion }, status },
    MERGE,
  );
  informer.note(patched);
}

/** Equal as the API server stores it: zero and absent are the same, so is the order of keys. */
function same(left: unknown, right: unknown): boolean {
  const canonical = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(canonical);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(
      ([, entry]) => entry !== undefined && entry !== null && entry !== "",
    );
    return Object.fromEntries(
      entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => [key, canonical(entry)]),
    );
  };
  const plain = (value: unknown): unknown => (value === 0 ? undefined : canonical(value));
  return JSON.stringify(plain(left)) === JSON.stringify(plain(right));
}
