/** Metrics of patches; their names are the KEP's and carry no prefix (DSP-1011 to 1016). */
import type { DeepReadonly, Metrics, ObjectKey } from "@quartet/core";
import type { DaemonSet } from "../kinds.ts";

export type PatchFailure =
  | "node_not_found"
  | "node_unresolved"
  | "selector_invalid"
  | "parse_failed"
  | "apply_failed"
  | "invariant_violated"
  | "admission_rejected";

export interface PatchMetrics {
  /** So many patches stand in a pod that was created. */
  applied(daemonSet: DeepReadonly<DaemonSet>, patches: number): void;
  failed(daemonSet: DeepReadonly<DaemonSet>, reason: PatchFailure): void;
  /** A pod's patches were matched and its template built: so many milliseconds, with a template from the cache or not. */
  duration(ms: number, isCached: boolean): void;
  /** Pods that are stale by their patches. */
  stale(daemonSet: DeepReadonly<DaemonSet>, pods: number): void;
  /** Drops the series of a DaemonSet. */
  forget(key: ObjectKey): void;
}

/** Bounds of the durations, in seconds (DSP-1013). */
const DURATIONS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1];

/** @param mode who applies the patches */
export function createPatchMetrics(metrics: Metrics, mode: "owner" | "companion" = "owner"): PatchMetrics {
  const labels = ["namespace", "daemonset"];
  const applied = metrics.counter("daemonset_patches_applied_total", "Patches in pods that were created.", [
    ...labels,
    "mode",
  ]);
  const errors = metrics.counter("daemonset_patches_errors_total", "Patches that could not be applied.", [
    ...labels,
    "reason",
  ]);
  const durations = metrics.histogram(
    "daemonset_patches_duration_seconds",
    "Time to match the patches of a pod and to build its template.",
    ["mode", "cache"],
    DURATIONS,
  );
  const stale = metrics.gauge(
    "daemonset_patches_stale_pods",
    "Pods that do not have their node's patches.",
    labels,
  );
  const reasons = new Map<string, Set<PatchFailure>>();
  const of = ({ metadata: { namespace = "", name } }: DeepReadonly<DaemonSet>) => ({
    namespace,
    daemonset: name,
  });
  return {
    applied: (daemonSet, patches) => {
      if (patches > 0) applied.inc({ ...of(daemonSet), mode }, patches);
    },
    failed(daemonSet, reason) {
      const { namespace, daemonset } = of(daemonSet);
      const id = `${namespace}/${daemonset}`;
      reasons.set(id, (reasons.get(id) ?? new Set()).add(reason));
      errors.inc({ namespace, daemonset, reason });
    },
    duration: (ms, isCached) => durations.observe({ mode, cache: isCached ? "hit" : "miss" }, ms / 1_000),
    stale: (daemonSet, pods) => stale.set(of(daemonSet), pods),
    forget({ namespace, name }) {
      const series = { namespace, daemonset: name };
      applied.remove({ ...series, mode });
      stale.remove(series);
      const id = `${namespace}/${name}`;
      for (const reason of reasons.get(id) ?? []) errors.remove({ ...series, reason });
      reasons.delete(id);
    },
  };
}
