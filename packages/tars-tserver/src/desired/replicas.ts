/** How many pods a server gets (M-008, M-010, M-011). */
import type { DeepReadonly, ObjectMeta } from "@quartet/core";
import { MAX_REPLICAS_ANNOTATION, MIN_REPLICAS_ANNOTATION } from "../labels.ts";
import type { ServerModel } from "./model.ts";

/** Bounds that annotations set; an absent one bounds nothing. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Why the annotations set no bounds. */
export type BoundsProblem = "unexpected annotation format" | "unexpected annotation value";

const FORM = /^[1-9]?[0-9]$/;

/** The bounds, or what is wrong with the annotations. */
export function boundsOf(annotations: DeepReadonly<ObjectMeta>["annotations"]): Bounds | BoundsProblem {
  const { [MIN_REPLICAS_ANNOTATION]: low, [MAX_REPLICAS_ANNOTATION]: high } = annotations ?? {};
  if ([low, high].some((text) => text !== undefined && !FORM.test(text)))
    return "unexpected annotation format";
  const min = low === undefined ? Number.NEGATIVE_INFINITY : Number(low);
  const max = high === undefined ? Number.POSITIVE_INFINITY : Number(high);
  return min > max ? "unexpected annotation value" : { min, max };
}

/** A number of replicas within the bounds. */
export function clamp(replicas: number, { min, max }: Bounds): number {
  return Math.min(Math.max(replicas, min), max);
}

/** The replicas that a workload gets; annotations that set no bounds are passed over. */
export function effectiveReplicas(
  { k8s, released }: ServerModel,
  annotations: DeepReadonly<ObjectMeta>["annotations"],
): number {
  if (released === undefined) return 0;
  const bounds = boundsOf(annotations);
  const replicas = k8s.replicas ?? 0;
  return typeof bounds === "string" ? replicas : clamp(replicas, bounds);
}
