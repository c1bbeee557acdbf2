/** Metrics of the configuration management. No label holds content. */
import { keyToString, type Metrics, type ObjectKey } from "@quartet/core";
import type { ConfigResult } from "../desired/config.ts";
import type { Settings } from "../desired/settings.ts";

export interface ConfigMetrics {
  /** Counts the merge of a pass. */
  merged(settings: Settings, config: ConfigResult): void;
  /** Counts a rollout of another configuration. */
  rollout(): void;
  /** Drops the figures of a deleted resource. */
  forget(key: ObjectKey): void;
}

export function createConfigMetrics(metrics: Metrics): ConfigMetrics {
  const merges = metrics.counter(
    "nacos_config_merge_total",
    "Merges of configuration sources by result: ready, or the reason for which the last good one was kept",
    ["result"],
  );
  const rollouts = metrics.counter(
    "nacos_config_rollouts_total",
    "Rollouts of running installations for another configuration",
  );
  const bytes = metrics.gauge("nacos_config_bytes", "Size of the merged configuration in bytes", [
    "namespace",
    "name",
  ]);
  const measured = new Set<string>();
  const labelsOf = ({ namespace, name }: ObjectKey): { namespace: string; name: string } => ({
    namespace,
    name,
  });

  return {
    merged(settings, { problem, ready }) {
      if (settings.config.mode !== "merged") return;
      merges.inc({ result: problem?.reason ?? "ready" });
      if (ready === undefined) return;
      measured.add(keyToString(settings));
      bytes.set(labelsOf(settings), ready.bytes);
    },
    rollout: () => rollouts.inc(),
    forget(key) {
      if (measured.delete(keyToString(key))) bytes.remove(labelsOf(key));
    },
  };
}
