/**
 * The parts of built-in objects that this package looks at. Every other field travels untouched, hence the index
 * signatures.
 */
import type { KubeObject, ObjectMeta } from "@quartet/core";

/** Any JSON object. */
export type JsonMap = Record<string, unknown>;

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: JsonMap;
}

export interface ContainerPort extends JsonMap {
  name?: string;
  containerPort: number;
  protocol?: string;
}

export interface VolumeMount extends JsonMap {
  name: string;
  mountPath: string;
  subPath?: string;
}

export interface Volume extends JsonMap {
  name: string;
}

export interface Container extends JsonMap {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: ContainerPort[];
  resources?: JsonMap;
  volumeMounts?: VolumeMount[];
  livenessProbe?: JsonMap;
  readinessProbe?: JsonMap;
}

export interface PodSpec extends JsonMap {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
}

export interface PodTemplate {
  metadata: Pick<ObjectMeta, "labels" | "annotations">;
  spec: PodSpec;
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
  selector: { matchLabels?: Record<string, string>; matchExpressions?: unknown[] };
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

export interface ServicePort extends JsonMap {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
  nodePort?: number;
}

export interface ServiceSpec extends JsonMap {
  type?: string;
  clusterIP?: string;
  ports?: ServicePort[];
  selector?: Record<string, string>;
  publishNotReadyAddresses?: boolean;
}

export interface Service extends KubeObject {
  spec: ServiceSpec;
}

export interface PodCondition {
  type: string;
  status: string;
}

export interface ContainerStatus {
  name: string;
  state?: { terminated?: { exitCode: number; reason?: string; finishedAt?: string } };
}

export interface PodStatus {
  phase?: string;
  podIP?: string;
  hostIP?: string;
  conditions?: PodCondition[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

export interface Pod extends KubeObject {
  spec?: { nodeName?: string; volumes?: Volume[] };
  status?: PodStatus;
}

export interface JobCondition {
  type: string;
  status: string;
  reason?: string;
}

export interface Job extends KubeObject {
  spec: JsonMap & { template: PodTemplate };
  status?: JsonMap & { conditions?: JobCondition[] };
}

/** A ConfigMap (values are text) or a Secret (values are base64). */
export interface ConfigObject extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
  type?: string;
}
