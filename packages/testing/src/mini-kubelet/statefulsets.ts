/** StatefulSets: pods by ordinal, in order or in parallel, rolled from the highest down. */
import { type Cluster, createPod, deletePod, writeStatus } from "./cluster.ts";
import {
  isAvailable,
  isEnding,
  isFinished,
  isReady,
  ownerReference,
  type Pod,
  type PodTemplate,
  type StatefulSet,
} from "./objects.ts";
import { createWorker, type Worker } from "./worker.ts";
import { adopt, podOf, podsOf, templateHash, watchOwner } from "./workload.ts";

const REVISION = "controller-revision-hash";
const CONFLICT = 409;
/** Time between looks at pods that become available by waiting, ms. */
const AVAILABLE_POLL_MS = 200;

interface Plan {
  set: StatefulSet;
  /** Ordinal to pod. */
  pods: Map<number, Pod>;
  first: number;
  replicas: number;
  update: string;
  current: string;
  partition: number;
  now: number;
  /** Templates that were seen, by revision. */
  templates: ReadonlyMap<string, PodTemplate>;
}

function ordinalOf(set: StatefulSet, name: string): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^(0|[1-9]\d*)$/.test(rest) ? Number(rest) : undefined;
}

const wanted = ({ first, replicas }: Plan): number[] =>
  Array.from({ length: replicas }, (_, index) => first + index);
const isCurrent = (plan: Plan, pod: Pod): boolean => pod.metadata.labels?.[REVISION] === plan.update;
const isHealthy = ({ set, now }: Plan, pod: Pod): boolean =>
  !isEnding(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);

async function createClaims(cluster: Cluster, set: StatefulSet, ordinal: number): Promise<void> {
  const { namespace, name } = set.metadata;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const labels = { ...template.metadata.labels, ...set.spec.selector.matchLabels };
    const metadata = { ...template.metadata, name: `${template.metadata.name}-${name}-${ordinal}`, labels };
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    const body = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: template.spec };
    const answer = await cluster.client.request<{ message?: string }>("POST", path, body);
    if (answer.code >= 400 && answer.code !== CONFLICT) throw new Error(answer.body.message);
  }
}

/** The pod of an ordinal, of the update revision or below the partition of the current one. */
function newPod(plan: Plan, ordinal: number): Pod {
  const { set } = plan;
  const { name } = set.metadata;
  const old = ordinal < plan.first + plan.partition ? plan.templates.get(plan.current) : undefined;
  const revision = old === undefined ? plan.update : plan.current;
  const podName = `${name}-${ordinal}`;
  const labels = {
    [REVISION]: revision,
    "statefulset.kubernetes.io/pod-name": podName,
    "apps.kubernetes.io/pod-index": String(ordinal),
  };
  const pod = podOf(old ?? set.spec.template, podName, labels, ownerReference(set, "apps/v1", "StatefulSet"));
  const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${podName}` },
  }));
  const own = new Set(claims.map((claim) => claim.name));
  const volumes = [...claims, ...(pod.spec.volumes ?? []).filter((volume) => !own.has(volume.name))];
  if (volumes.length > 0) pod.spec.volumes = volumes;
  pod.spec.hostname = podName;
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
  return pod;
}

/** Creates what is missing; in order, each waits for those before it. Whether all of them are there and fine. */
async function scaleUp(cluster: Cluster, plan: Plan): Promise<boolean> {
  const ordered = plan.set.spec.podManagementPolicy !== "Parallel";
  let complete = true;
  for (const ordinal of wanted(plan)) {
    const pod = plan.pods.get(ordinal);
    if (pod === undefined) {
      await createClaims(cluster, plan.set, ordinal);
      await createPod(cluster, plan.set.metadata.namespace!, newPod(plan, ordinal));
      complete = false;
    } else if (isFinished(pod) && !isEnding(pod)) {
      await deletePod(cluster, pod);
      complete = false;
    } else if (!isHealthy(plan, pod)) complete = false;
    if (ordered && !complete) return false;
  }
  return ordered ? complete : wanted(plan).every((ordinal) => plan.pods.has(ordinal));
}

/** Deletes pods beyond the wanted ones, from the highest down. Whether none is left. */
async function scaleDown(cluster: Cluster, plan: Plan): Promise<boolean> {
  const ordered = plan.set.spec.podManagementPolicy !== "Parallel";
  const keep = new Set(wanted(plan));
  const surplus = [...plan.pods.keys()].filter((ordinal) => !keep.has(ordinal)).sort((a, b) => b - a);
  for (const ordinal of surplus) {
    const pod = plan.pods.get(ordinal)!;
    if (!isEnding(pod)) await deletePod(cluster, pod);
    if (ordered) return false;
  }
  return surplus.length === 0;
}

function maxUnavailable({ set, replicas }: Plan): number {
  const given = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  const number =
    typeof given === "string" ? Math.floor((Number.parseInt(given, 10) * replicas) / 100) : given;
  return Math.max(number, 1);
}

/** Replaces pods of older revisions, from the highest ordinal down to the partition. */
async function roll(cluster: Cluster, plan: Plan): Promise<void> {
  if (plan.set.spec.updateStrategy?.type === "OnDelete") return;
  const ordinals = wanted(plan).reverse();
  const healthy = (ordinal: number): boolean => isHealthy(plan, plan.pods.get(ordinal)!);
  let free = maxUnavailable(plan) - ordinals.filter((ordinal) => !healthy(ordinal)).length;
  const old = ordinals.filter((ordinal) => {
    const pod = plan.pods.get(ordinal)!;
    return ordinal >= plan.first + plan.partition && !isCurrent(plan, pod) && !isEnding(pod);
  });
  // Under Parallel, old pods that are not available anyway go at once, whatever may be missing.
  const parallel = plan.set.spec.podManagementPolicy === "Parallel";
  for (const ordinal of old) {
    const costs = !parallel || healthy(ordinal);
    if (costs && free <= 0) continue;
    await deletePod(cluster, plan.pods.get(ordinal)!);
    if (costs) free -= 1;
  }
}

async function report(cluster: Cluster, plan: Plan): Promise<void> {
  const pods = [...plan.pods.values()].filter((pod) => !isFinished(pod));
  const count = (test: (pod: Pod) => boolean): number => pods.filter(test).length;
  const updated = count((pod) => isCurrent(plan, pod) && !isEnding(pod));
  const rolled = plan.partition === 0 && updated === plan.replicas && pods.length === plan.replicas;
  const done = rolled && pods.every((pod) => isReady(pod) && !isEnding(pod));
  const current = done ? plan.update : plan.current;
  const { namespace, name, generation } = plan.set.metadata;
  await writeStatus(
    cluster,
    cluster.statefulSets,
    `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`,
    plan.set,
    {
      observedGeneration: generation,
      replicas: pods.length,
      readyReplicas: count((pod) => isReady(pod) && !isEnding(pod)),
      availableReplicas: count((pod) => isHealthy(plan, pod)),
      currentReplicas: count((pod) => pod.metadata.labels?.[REVISION] === current && !isEnding(pod)),
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision: plan.update,
      collisionCount: 0,
    },
  );
}

export function startStatefulSets(cluster: Cluster): Worker {
  const templates = new Map<string, PodTemplate>();
  const planOf = (set: StatefulSet): Plan => {
    const update = `${set.metadata.name}-${templateHash(set.spec.template)}`;
    templates.set(update, set.spec.template);
    const pods = new Map<number, Pod>();
    for (const pod of podsOf(cluster, set)) {
      const ordinal = ordinalOf(set, pod.metadata.name);
      if (ordinal !== undefined) pods.set(ordinal, pod);
    }
    return {
      set,
      pods,
      first: set.spec.ordinals?.start ?? 0,
      replicas: set.spec.replicas ?? 1,
      update,
      current: set.status?.currentRevision ?? update,
      partition: set.spec.updateStrategy?.rollingUpdate?.partition ?? 0,
      now: cluster.now(),
      templates,
    };
  };
  const worker = createWorker(async (key) => {
    const [namespace, name] = key.split("/");
    const set = cluster.statefulSets.get(namespace, name!);
    if (set === undefined || isEnding(set)) return;
    const reference = ownerReference(set, "apps/v1", "StatefulSet");
    await adopt(cluster, set, reference, (pod) => ordinalOf(set, pod.metadata.name) !== undefined);
    const plan = planOf(set);
    const up = await scaleUp(cluster, plan);
    const down = up && (await scaleDown(cluster, plan));
    if (up && down) await roll(cluster, plan);
    const after = planOf(cluster.statefulSets.get(namespace, name!) ?? set);
    await report(cluster, after);
    const soon = [...after.pods.values()].some(
      (pod) => isReady(pod) && !isHealthy(after, pod) && !isEnding(pod),
    );
    if (soon) worker.addAfter(key, AVAILABLE_POLL_MS);
  });
  watchOwner(cluster, cluster.statefulSets, "StatefulSet", worker);
  return worker;
}
