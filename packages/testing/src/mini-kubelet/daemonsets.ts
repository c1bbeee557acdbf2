/** DaemonSets of apps/v1: one pod on every node that fits. */
import { type Cluster, createPod, deletePod, writeStatus } from "./cluster.ts";
import {
  type DaemonSet,
  isAvailable,
  isEnding,
  isFinished,
  isReady,
  ownerReference,
  type Pod,
} from "./objects.ts";
import { fits } from "./scheduler.ts";
import { createWorker, type Worker } from "./worker.ts";
import { adopt, podOf, podsOf, randomSuffix, templateHash, watchOwner } from "./workload.ts";

const REVISION = "controller-revision-hash";
const GENERATION = "pod-template-generation";
/** Troubles of a node that the pods of a DaemonSet sit out. */
const TOLERATIONS = [
  "not-ready",
  "unreachable",
  "disk-pressure",
  "memory-pressure",
  "pid-pressure",
  "unschedulable",
].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: key === "not-ready" || key === "unreachable" ? "NoExecute" : "NoSchedule",
}));

function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const labels = { [REVISION]: hash, [GENERATION]: String(set.metadata.generation ?? 1) };
  const name = `${set.metadata.name}-${randomSuffix()}`;
  const pod = podOf(set.spec.template, name, labels, ownerReference(set, "apps/v1", "DaemonSet"));
  pod.spec.tolerations = [...(pod.spec.tolerations ?? []), ...TOLERATIONS];
  pod.spec.nodeName = node;
  return pod;
}

async function sync(cluster: Cluster, set: DaemonSet): Promise<void> {
  const { namespace, name, generation } = set.metadata;
  await adopt(cluster, set, ownerReference(set, "apps/v1", "DaemonSet"));
  const hash = templateHash(set.spec.template);
  const spec = {
    ...set.spec.template.spec,
    tolerations: [...(set.spec.template.spec.tolerations ?? []), ...TOLERATIONS],
  };
  const nodes = cluster.nodes.all().filter((node) => fits(spec, node));
  const names = new Set(nodes.map((node) => node.metadata.name));
  const pods = podsOf(cluster, set);
  const onNode = (node: string): Pod | undefined => pods.find((pod) => pod.spec.nodeName === node);
  for (const node of names) {
    const pod = onNode(node);
    if (pod === undefined) await createPod(cluster, namespace!, daemonPod(set, node, hash));
    else if (isFinished(pod) && !isEnding(pod)) await deletePod(cluster, pod);
  }
  for (const pod of pods)
    if (!names.has(pod.spec.nodeName ?? "") && !isEnding(pod)) await deletePod(cluster, pod);
  const settled = [...names].every((node) => {
    const pod = onNode(node);
    return pod !== undefined && !isEnding(pod) && isReady(pod);
  });
  const outdated = pods.filter((pod) => pod.metadata.labels?.[REVISION] !== hash && !isEnding(pod));
  // one at a time, and unwell ones at once
  const next = settled ? outdated[0] : outdated.find((pod) => !isReady(pod));
  if (next !== undefined && set.spec.updateStrategy?.type !== "OnDelete") await deletePod(cluster, next);
  const present = podsOf(cluster, set).filter((pod) => !isEnding(pod));
  const available = present.filter((pod) =>
    isAvailable(pod, set.spec.minReadySeconds ?? 0, cluster.now()),
  ).length;
  await writeStatus(
    cluster,
    cluster.daemonSets,
    `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`,
    set,
    {
      observedGeneration: generation,
      desiredNumberScheduled: names.size,
      currentNumberScheduled: present.length,
      numberMisscheduled: 0,
      numberReady: present.filter(isReady).length,
      numberAvailable: available,
      numberUnavailable: Math.max(names.size - available, 0),
      updatedNumberScheduled: present.filter((pod) => pod.metadata.labels?.[REVISION] === hash).length,
    },
  );
}

export function startDaemonSets(cluster: Cluster): Worker {
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const set = cluster.daemonSets.get(namespace, name!);
    if (set !== undefined && !isEnding(set)) await sync(cluster, set);
  });
  watchOwner(cluster, cluster.daemonSets, "DaemonSet", worker);
  cluster.nodes.onChange(() => {
    for (const { metadata } of cluster.daemonSets.all()) worker.add(`${metadata.namespace}/${metadata.name}`);
  });
  return worker;
}
