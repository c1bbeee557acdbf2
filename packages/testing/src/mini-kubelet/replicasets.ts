/** ReplicaSets, and Deployments on top of them. */
import { type Cluster, createPod, deletePod, writeStatus } from "./cluster.ts";
import {
  controllerOf,
  type Deployment,
  isAvailable,
  isEnding,
  isFinished,
  isReady,
  ownerReference,
  type Pod,
  type ReplicaSet,
  timestamp,
} from "./objects.ts";
import { createWorker, type Worker } from "./worker.ts";
import { adopt, podOf, podsOf, randomSuffix, templateHash, watchOwner } from "./workload.ts";

const HASH = "pod-template-hash";
const AVAILABLE_POLL_MS = 200;
const MERGE = { contentType: "application/merge-patch+json" };

async function syncReplicaSet(cluster: Cluster, set: ReplicaSet): Promise<boolean> {
  const { namespace, name, generation } = set.metadata;
  const owner = ownerReference(set, "apps/v1", "ReplicaSet");
  await adopt(cluster, set, owner);
  const live = (): Pod[] => podsOf(cluster, set).filter((pod) => !isFinished(pod) && !isEnding(pod));
  const wanted = set.spec.replicas ?? 1;
  for (let missing = wanted - live().length; missing > 0; missing -= 1) {
    await createPod(cluster, namespace!, podOf(set.spec.template, `${name}-${randomSuffix()}`, {}, owner));
  }
  const surplus = live()
    .sort((a, b) => Number(isReady(a)) - Number(isReady(b)))
    .slice(0, Math.max(live().length - wanted, 0));
  for (const pod of surplus) await deletePod(cluster, pod);
  const pods = live();
  const available = pods.filter((pod) =>
    isAvailable(pod, set.spec.minReadySeconds ?? 0, cluster.now()),
  ).length;
  const ready = pods.filter(isReady).length;
  await writeStatus(
    cluster,
    cluster.replicaSets,
    `/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`,
    set,
    {
      observedGeneration: generation,
      replicas: pods.length,
      fullyLabeledReplicas: pods.length,
      readyReplicas: ready,
      availableReplicas: available,
    },
  );
  return ready > available;
}

export function startReplicaSets(cluster: Cluster): Worker {
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const set = cluster.replicaSets.get(namespace, name!);
    if (set === undefined || isEnding(set)) return;
    if (await syncReplicaSet(cluster, set)) worker.addAfter(key, AVAILABLE_POLL_MS);
  });
  watchOwner(cluster, cluster.replicaSets, "ReplicaSet", worker);
  return worker;
}

function setsOf(cluster: Cluster, deployment: Deployment): ReplicaSet[] {
  return cluster.replicaSets
    .all()
    .filter((set) => controllerOf(set)?.uid === deployment.metadata.uid && !isEnding(set));
}

async function createReplicaSet(cluster: Cluster, deployment: Deployment, hash: string): Promise<void> {
  const { namespace, name } = deployment.metadata;
  const { template, selector, replicas = 1, minReadySeconds } = deployment.spec;
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  const body = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-${hash}`,
      labels,
      ownerReferences: [ownerReference(deployment, "apps/v1", "Deployment")],
    },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  const path = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
  cluster.replicaSets.note(await cluster.client.ok<ReplicaSet>("POST", path, body));
}

async function scale(cluster: Cluster, set: ReplicaSet, replicas: number): Promise<void> {
  if ((set.spec.replicas ?? 1) === replicas) return;
  const path = `/apis/apps/v1/namespaces/${set.metadata.namespace}/replicasets/${set.metadata.name}`;
  cluster.replicaSets.note(await cluster.client.ok<ReplicaSet>("PATCH", path, { spec: { replicas } }, MERGE));
}

async function syncDeployment(cluster: Cluster, deployment: Deployment): Promise<void> {
  const { namespace, name, generation } = deployment.metadata;
  const replicas = deployment.spec.replicas ?? 1;
  const hash = templateHash(deployment.spec.template);
  const number = (set: ReplicaSet, key: string): number => Number(set.status?.[key] ?? 0);
  const find = (): ReplicaSet | undefined =>
    setsOf(cluster, deployment).find(({ metadata }) => metadata.name === `${name}-${hash}`);
  const old = setsOf(cluster, deployment).filter(({ metadata }) => metadata.name !== `${name}-${hash}`);
  const recreate = deployment.spec.strategy?.type === "Recreate";
  if (deployment.spec.paused !== true) {
    const oldPods = old.reduce((sum, set) => sum + number(set, "replicas"), 0);
    if (recreate) for (const set of old) await scale(cluster, set, 0);
    if (!recreate || oldPods === 0) {
      const current = find();
      if (current === undefined) await createReplicaSet(cluster, deployment, hash);
      else await scale(cluster, current, replicas);
    }
    // the old pods go when the new ones serve
    if (number(find() ?? ({} as ReplicaSet), "availableReplicas") >= replicas) {
      for (const set of old) await scale(cluster, set, 0);
    }
  }
  const all = setsOf(cluster, deployment);
  const sum = (key: string): number => all.reduce((total, set) => total + number(set, key), 0);
  const available = sum("availableReplicas");
  const current = find();
  await writeStatus(
    cluster,
    cluster.deployments,
    `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
    deployment,
    {
      observedGeneration: generation,
      replicas: sum("replicas"),
      updatedReplicas: current === undefined ? 0 : number(current, "replicas"),
      readyReplicas: sum("readyReplicas"),
      availableReplicas: available,
      unavailableReplicas: Math.max(replicas - available, 0),
      conditions: deploymentConditions(deployment, available >= replicas, cluster.now()),
    },
  );
}

function deploymentConditions(deployment: Deployment, available: boolean, now: number): object[] {
  const old = deployment.status?.conditions ?? [];
  const wanted = [
    {
      type: "Available",
      ok: available,
      reason: available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    },
    { type: "Progressing", ok: true, reason: available ? "NewReplicaSetAvailable" : "ReplicaSetUpdated" },
  ];
  return wanted.map(({ type, ok, reason }) => {
    const status = ok ? "True" : "False";
    const before = old.find((condition) => condition.type === type);
    if (before?.status === status && before.reason === reason) return before;
    const at = timestamp(now);
    const since = before?.status === status ? before.lastTransitionTime : at;
    return { type, status, reason, message: reason, lastUpdateTime: at, lastTransitionTime: since };
  });
}

export function startDeployments(cluster: Cluster): Worker {
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const deployment = cluster.deployments.get(namespace, name!);
    if (deployment !== undefined && !isEnding(deployment)) await syncDeployment(cluster, deployment);
  });
  cluster.deployments.onChange(({ metadata }) => worker.add(`${metadata.namespace}/${metadata.name}`));
  cluster.replicaSets.onChange((set) => {
    const owner = controllerOf(set);
    if (owner?.kind === "Deployment") worker.add(`${set.metadata.namespace}/${owner.name}`);
  });
  return worker;
}
