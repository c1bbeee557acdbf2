/** Puts pods on nodes: selectors, required affinity, taints; the node with the fewest pods wins. */
import { type Cluster, podPath } from "./cluster.ts";
import {
  isEnding,
  matchesAll,
  type Node,
  type Pod,
  type PodSpec,
  type Term,
  type Toleration,
} from "./objects.ts";
import { createWorker, type Worker } from "./worker.ts";

const SCHEDULER = "default-scheduler";
const CONFLICT = 409;
const NOT_FOUND = 404;

function tolerates(
  tolerations: readonly Toleration[],
  taint: { key: string; value?: string; effect: string },
): boolean {
  return tolerations.some((toleration) => {
    if (toleration.effect !== undefined && toleration.effect !== "" && toleration.effect !== taint.effect)
      return false;
    if (toleration.key !== undefined && toleration.key !== "" && toleration.key !== taint.key) return false;
    return toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? "");
  });
}

function matchesTerm(term: Term, node: Node): boolean {
  const fields = { "metadata.name": node.metadata.name };
  return (
    matchesAll(term.matchExpressions ?? [], node.metadata.labels ?? {}) &&
    matchesAll(term.matchFields ?? [], fields)
  );
}

/** Whether a pod with this spec may be put on a node. */
export function fits(spec: PodSpec, node: Node): boolean {
  if (isEnding(node)) return false;
  const tolerations = spec.tolerations ?? [];
  const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
  if (node.spec.unschedulable === true && !tolerates(tolerations, cordon)) return false;
  const hard = (node.spec.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
  if (!hard.every((taint) => tolerates(tolerations, taint))) return false;
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

function waits(pod: Pod): boolean {
  const { nodeName, schedulerName = SCHEDULER, schedulingGates = [] } = pod.spec;
  return (
    nodeName === undefined && schedulerName === SCHEDULER && schedulingGates.length === 0 && !isEnding(pod)
  );
}

async function bind(cluster: Cluster, pod: Pod): Promise<void> {
  const load = new Map<string, number>();
  for (const { spec } of cluster.pods.all()) {
    if (spec.nodeName !== undefined) load.set(spec.nodeName, (load.get(spec.nodeName) ?? 0) + 1);
  }
  const [node] = cluster.nodes
    .all()
    .filter((candidate) => fits(pod.spec, candidate))
    .sort((a, b) => (load.get(a.metadata.name) ?? 0) - (load.get(b.metadata.name) ?? 0));
  if (node === undefined) return;
  const answer = await cluster.client.request<{ message?: string }>("POST", `${podPath(pod)}/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: pod.metadata.name },
    target: { apiVersion: "v1", kind: "Node", name: node.metadata.name },
  });
  if (answer.code >= 400 && answer.code !== CONFLICT && answer.code !== NOT_FOUND)
    throw new Error(answer.body.message);
}

export function startScheduler(cluster: Cluster): Worker {
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const pod = cluster.pods.get(namespace, name!);
    if (pod !== undefined && waits(pod)) await bind(cluster, pod);
  });
  const look = (pod: Pod): void => {
    if (waits(pod)) worker.add(`${pod.metadata.namespace}/${pod.metadata.name}`);
  };
  cluster.pods.onChange(look);
  cluster.nodes.onChange(() => cluster.pods.all().forEach(look));
  return worker;
}
