/** Plays the kubelets of all nodes, and the nodes themselves. */
import { TEST_ANNOTATIONS } from "../control-plane/stage.ts";
import { type Cluster, deletePod, podPath, writeStatus } from "./cluster.ts";
import { conditionOf, isEnding, type Node, type Pod, timestamp } from "./objects.ts";
import { nextStep } from "./pod-status.ts";
import { createWorker, type Worker } from "./worker.ts";

/** Address of every node. */
const NODE_IP = "127.0.0.1";
/** Size of a node that names none. */
const RESOURCES = { cpu: "1k", memory: "1Ti", pods: "1M" };
const NOT_READY_TAINT = "node.kubernetes.io/not-ready";

const keyOf = ({ metadata }: Pick<Pod, "metadata">): string => `${metadata.namespace}/${metadata.name}`;

async function runPod(cluster: Cluster, pod: Pod, worker: Worker): Promise<void> {
  const now = cluster.now();
  const step = nextStep(pod, now, () => {
    const podIP = pod.spec.hostNetwork === true ? NODE_IP : cluster.allocateIp();
    return { hostIP: NODE_IP, hostIPs: [{ ip: NODE_IP }], podIP, podIPs: [{ ip: podIP }] };
  });
  if (step.at !== undefined) worker.addAfter(keyOf(pod), Math.max(step.at - now, 0) + 1);
  if (step.remove === true) await deletePod(cluster, pod, 0);
  if (step.status !== undefined) await writeStatus(cluster, cluster.pods, podPath(pod), pod, step.status);
}

export function startKubelet(cluster: Cluster): Worker {
  /** Pods of before this start have been looked at, but no node means nobody runs them. */
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const pod = cluster.pods.get(namespace, name!);
    if (pod?.spec.nodeName === undefined || cluster.nodes.get("", pod.spec.nodeName) === undefined) return;
    await runPod(cluster, pod, worker);
  });
  cluster.pods.onChange((pod) => worker.add(keyOf(pod)));
  cluster.nodes.onChange((node) => {
    for (const pod of cluster.pods.all())
      if (pod.spec.nodeName === node.metadata.name) worker.add(keyOf(pod));
  });
  return worker;
}

function nodeStatus(node: Node, ready: boolean, now: number): Record<string, unknown> {
  const before = conditionOf(node.status, "Ready");
  const status = ready ? "True" : "False";
  const at = timestamp(now);
  const since = before?.status === status ? before.lastTransitionTime : at;
  const capacity = node.status?.capacity ?? RESOURCES;
  return {
    conditions: [
      {
        type: "Ready",
        status,
        reason: ready ? "KubeletReady" : "KubeletNotReady",
        message: ready ? "kubelet is posting ready status" : "test",
        lastHeartbeatTime: since,
        lastTransitionTime: since,
      },
    ],
    addresses: [
      { type: "InternalIP", address: NODE_IP },
      { type: "Hostname", address: node.metadata.name },
    ],
    capacity,
    allocatable: node.status?.allocatable ?? capacity,
  };
}

/** Makes nodes ready, and not ready while their annotation says so. */
export function startNodes(cluster: Cluster): Worker {
  const worker = createWorker(async (name) => {
    const node = cluster.nodes.get("", name);
    if (node === undefined || isEnding(node)) return;
    const ready = node.metadata.annotations?.[TEST_ANNOTATIONS.nodeNotReady] !== "true";
    const path = `/api/v1/nodes/${name}`;
    const known = conditionOf(node.status, "Ready")?.status === (ready ? "True" : "False");
    if (!known) await writeStatus(cluster, cluster.nodes, path, node, nodeStatus(node, ready, cluster.now()));
    const current = cluster.nodes.get("", name)!;
    const taints = current.spec.taints ?? [];
    const others = taints.filter(({ key }) => key !== NOT_READY_TAINT);
    const wanted = ready ? others : [...others, { key: NOT_READY_TAINT, effect: "NoSchedule" }];
    if (wanted.length === taints.length) return;
    const { resourceVersion } = current.metadata;
    const patch = { metadata: { resourceVersion }, spec: { taints: wanted.length === 0 ? null : wanted } };
    cluster.nodes.note(
      await cluster.client.ok("PATCH", path, patch, { contentType: "application/merge-patch+json" }),
    );
  });
  cluster.nodes.onChange(({ metadata }) => worker.add(metadata.name));
  return worker;
}
