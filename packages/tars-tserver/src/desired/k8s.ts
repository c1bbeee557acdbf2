/**
 * The parts of built-in objects that this package looks at. Every other field travels untouched, hence the index
 * signatures.
 */
import type { KubeObject, ObjectMeta } from "@quartet/core";

/** Any JSON object. */
export type JsonMap = Record<string, unknown>;

export interface ContainerPort extends JsonMap {
  name?: string;
  containerPort: number;
  protocol?: string;
  hostPort?: number;
}

export interface Container extends JsonMap {
  name: string;
  image?: string;
  ports?: ContainerPort[];
}

export interface PodSpec extends JsonMap {
  containers: Container[];
  initContainers?: Container[];
  hostNetwork?: boolean;
}

export interface PodTemplate extends JsonMap {
  metadata: ObjectMeta;
  spec: PodSpec;
}

export interface ClaimTemplate extends JsonMap {
  metadata: ObjectMeta;
  spec: JsonMap;
}

export interface Claim extends KubeObject {
  spec?: JsonMap;
  status?: { phase?: string };
}

interface WorkloadSpec extends JsonMap {
  selector: { matchLabels?: Record<string, string> };
  template: PodTemplate;
  updateStrategy?: JsonMap;
}

export interface StatefulSetSpec extends WorkloadSpec {
  replicas?: number;
  serviceName?: string;
  podManagementPolicy?: string;
  volumeClaimTemplates?: ClaimTemplate[];
}

export interface StatefulSet extends KubeObject {
  spec: StatefulSetSpec;
}

export interface DaemonSet extends KubeObject {
  spec: WorkloadSpec;
}

export interface ServicePort extends JsonMap {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
}

export interface ServiceSpec extends JsonMap {
  type?: string;
  clusterIP?: string;
  ports?: ServicePort[];
  selector?: Record<string, string>;
}

export interface Service extends KubeObject {
  spec: ServiceSpec;
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  /** RFC 3339. */
  lastTransitionTime?: string;
}

export interface ContainerStatus extends JsonMap {
  name: string;
}

export interface Pod extends KubeObject {
  spec?: JsonMap;
  status?: {
    podIP?: string;
    hostIP?: string;
    conditions?: PodCondition[];
    containerStatuses?: ContainerStatus[];
  };
}

export interface Node extends KubeObject {
  spec?: JsonMap;
}
