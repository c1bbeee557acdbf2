/**
 * Pods and their templates: the fields that controllers look at. Every other field travels untouched, hence the index
 * signatures.
 */
import type { KubeObject, ObjectMeta } from "../object.ts";

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
  hostPort?: number;
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
  envFrom?: JsonMap[];
  ports?: ContainerPort[];
  resources?: JsonMap;
  volumeMounts?: VolumeMount[];
  livenessProbe?: JsonMap;
  readinessProbe?: JsonMap;
  startupProbe?: JsonMap;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface PodSpec extends JsonMap {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: JsonMap;
  tolerations?: Toleration[];
  serviceAccountName?: string;
  priorityClassName?: string;
  restartPolicy?: string;
  hostNetwork?: boolean;
  readinessGates?: { conditionType: string }[];
}

export interface PodTemplate {
  metadata: Pick<ObjectMeta, "labels" | "annotations">;
  spec: PodSpec;
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ContainerState {
  running?: { startedAt?: string };
  waiting?: { reason?: string; message?: string };
  terminated?: { exitCode: number; reason?: string; finishedAt?: string };
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  restartCount?: number;
  image?: string;
  imageID?: string;
  state?: ContainerState;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  podIP?: string;
  hostIP?: string;
  startTime?: string;
  conditions?: PodCondition[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

/** Reducing caches may keep a part of the spec only. */
export interface Pod extends KubeObject {
  spec?: Partial<PodSpec>;
  status?: PodStatus;
}
