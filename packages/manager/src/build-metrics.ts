/** Metrics that say what runs. */
import type { FeatureGate, Metrics } from "@quartet/core";
import { stageLabel } from "./config/feature-gates.ts";

/** Version of a program. */
export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
}

/** Sets `quartet_build_info`. */
export function recordBuildInfo(metrics: Metrics, build: BuildInfo): void {
  metrics
    .gauge("quartet_build_info", "1, labelled with the version that runs.", ["version", "commit", "node"])
    .set({ version: build.version, commit: build.commit, node: process.version }, 1);
}

/** Sets `kubernetes_feature_enabled`, 1 for gates that are on. */
export function recordFeatureGates(
  metrics: Metrics,
  gates: readonly FeatureGate[],
  features: Readonly<Record<string, boolean>>,
): void {
  const enabled = metrics.gauge("kubernetes_feature_enabled", "1 for feature gates that are on.", [
    "name",
    "stage",
  ]);
  for (const gate of gates) {
    enabled.set({ name: gate.name, stage: stageLabel(gate.stage) }, features[gate.name] ? 1 : 0);
  }
}
