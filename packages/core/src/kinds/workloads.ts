/** Kinds that make pods: the fields that controllers look at; every other field travels untouched. */
import type { KubeObject, ObjectMeta } from "../object.ts";
import type { JsonMap, PodTemplate } from "./pod.ts";

/** Selector of a workload, and of webhooks and queries. An empty one selects everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    values?: string[];
  }[];
}

export interface WorkloadCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface ClaimTemplate extends JsonMap {
  metadata: ObjectMeta;
  spec: JsonMap;
}

export interface Claim extends KubeObject {
  spec: JsonMap;
}

export interface StatefulSetSpec extends JsonMap {
  replicas?: number;
  serviceName?: string;
  selector: LabelSelector;
  template: PodTemplate;
  volumeClaimTemplates?: ClaimTemplate[];
}

export interface StatefulSetStatus extends JsonMap {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
}

export interface StatefulSet extends KubeObject {
  spec: StatefulSetSpec;
  status?: StatefulSetStatus;
}

export interface DeploymentSpec extends JsonMap {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplate;
  paused?: boolean;
}

export interface DeploymentStatus extends JsonMap {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  availableReplicas?: number;
  conditions?: WorkloadCondition[];
}

export interface Deployment extends KubeObject {
  spec: DeploymentSpec;
  status?: DeploymentStatus;
}

export interface DaemonSetSpec extends JsonMap {
  selector: LabelSelector;
  template: PodTemplate;
}

export interface DaemonSetStatus extends JsonMap {
  observedGeneration?: number;
  desiredNumberScheduled?: number;
  currentNumberScheduled?: number;
  updatedNumberScheduled?: number;
  numberReady?: number;
  numberAvailable?: number;
}

export interface DaemonSet extends KubeObject {
  spec: DaemonSetSpec;
  status?: DaemonSetStatus;
}

export interface ControllerRevision extends KubeObject {
  data?: JsonMap;
  revision: number;
}

export interface Job extends KubeObject {
  spec: JsonMap & { template: PodTemplate };
  status?: JsonMap & { conditions?: WorkloadCondition[] };
}
