/** The parts of Kubernetes objects that the mini-kubelet works with. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface Base {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
}

export interface Container {
  name: string;
  image: string;
  restartPolicy?: string;
  [key: string]: unknown;
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  containerID?: string;
  state: Record<string, unknown>;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: Term[] } };
  };
  tolerations?: Toleration[];
  schedulerName?: string;
  hostNetwork?: boolean;
  restartPolicy?: string;
  containers: Container[];
  initContainers?: Container[];
  readinessGates?: { conditionType: string }[];
  schedulingGates?: unknown[];
  volumes?: { name: string; [key: string]: unknown }[];
  [key: string]: unknown;
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface Term {
  matchExpressions?: Requirement[];
  matchFields?: Requirement[];
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  podIP?: string;
  startTime?: string;
  observedGeneration?: number;
  [key: string]: unknown;
}

export interface Pod extends Base {
  spec: PodSpec;
  status: PodStatus;
}

export interface Node extends Base {
  spec: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { conditions?: Condition[]; [key: string]: unknown };
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string>; finalizers?: string[] };
  spec: PodSpec;
}

export interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: Requirement[];
}

export interface Claim {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: unknown;
}

export interface StatefulSet extends Base {
  spec: {
    replicas?: number;
    serviceName?: string;
    selector: Selector;
    template: PodTemplate;
    volumeClaimTemplates?: Claim[];
    podManagementPolicy?: string;
    minReadySeconds?: number;
    ordinals?: { start?: number };
    updateStrategy?: {
      type?: string;
      rollingUpdate?: { partition?: number; maxUnavailable?: number | string };
    };
  };
  status?: Record<string, unknown> & { currentRevision?: string; updateRevision?: string };
}

export interface ReplicaSet extends Base {
  spec: { replicas?: number; selector: Selector; template: PodTemplate; minReadySeconds?: number };
  status?: Record<string, unknown>;
}

export interface Deployment extends Base {
  spec: {
    replicas?: number;
    selector: Selector;
    template: PodTemplate;
    minReadySeconds?: number;
    paused?: boolean;
    strategy?: { type?: string };
  };
  status?: Record<string, unknown> & { conditions?: Condition[] };
}

export interface DaemonSet extends Base {
  spec: {
    selector: Selector;
    template: PodTemplate;
    minReadySeconds?: number;
    updateStrategy?: { type?: string };
  };
  status?: Record<string, unknown>;
}

export interface Job extends Base {
  spec: {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    suspend?: boolean;
    template: PodTemplate;
  };
  status?: Record<string, unknown> & { conditions?: Condition[]; startTime?: string };
}

export function conditionOf(
  status: { conditions?: Condition[] } | undefined,
  type: string,
): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isReady(object: { status?: { conditions?: Condition[] } }): boolean {
  return conditionOf(object.status, "Ready")?.status === "True";
}

/** Ready for at least so many seconds. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const ready = conditionOf(pod.status, "Ready");
  if (ready?.status !== "True") return false;
  return minReadySeconds === 0 || Date.parse(ready.lastTransitionTime ?? "") + minReadySeconds * 1000 <= now;
}

export function isEnding({ metadata }: Base): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isFinished(pod: Pod): boolean {
  return pod.status.phase === "Failed" || pod.status.phase === "Succeeded";
}

export function controllerOf({ metadata }: Base): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function ownerReference(owner: Base, apiVersion: string, kind: string): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function matchesRequirement(
  { key, operator, values = [] }: Requirement,
  labels: Record<string, string>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

export function matchesAll(requirements: readonly Requirement[], labels: Record<string, string>): boolean {
  return requirements.every((requirement) => matchesRequirement(requirement, labels));
}

export function matchesSelector(selector: Selector, labels: Record<string, string> = {}): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return equal && matchesAll(selector.matchExpressions ?? [], labels);
}

/** Milliseconds of a Go duration such as `1.5s` or `2m30s`; 0 for none. */
export function durationMs(text: string | undefined): number {
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  let total = 0;
  for (const [, number, unit] of (text ?? "").matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(number) * units[unit!]!;
  }
  return total;
}

/** RFC 3339 in whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
