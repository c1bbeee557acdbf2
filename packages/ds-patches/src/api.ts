/** Parts of the DaemonSet of `apps.kruise.io` that this package reads. */
import type { JsonMap } from "@quartet/strategic-merge";

export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>>;
  matchExpressions?: readonly SelectorRequirement[];
}

export interface SelectorRequirement {
  key: string;
  operator: string;
  values?: readonly string[];
}

/** An item of `spec.patches`. */
export interface NodePatch {
  /** Labels of the nodes that it is for; absent matches none. */
  selector?: LabelSelector | null;
  /** Strategic merge patch of the pod template. */
  patch: JsonMap;
  /** Ascending order of application, default 0; the last one applied wins. */
  priority?: number;
}

/** `spec.template`. Fields that the server's schema has and this type does not are kept. */
export interface PodTemplate {
  metadata?: JsonMap;
  spec?: JsonMap;
}

/** Labels of a node or pod. */
export type Labels = Readonly<Record<string, string>>;
