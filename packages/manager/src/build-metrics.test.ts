import { createMetrics, type Metrics } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { recordBuildInfo, recordFeatureGates } from "./build-metrics.ts";
import { resolveFeatureGates } from "./config/feature-gates.ts";

const start = (): Metrics => createMetrics({ processMetrics: false });

describe("metrics of what runs", () => {
  it("CORE-394 shows feature gates with name and stage", async () => {
    const metrics = start();
    const gates = [
      { name: "A", stage: "Alpha" as const, since: "0.1.0", owner: "x", help: "" },
      { name: "G", stage: "GA" as const, since: "0.1.0", owner: "x", help: "" },
    ];
    recordFeatureGates(metrics, gates, resolveFeatureGates("", gates).features);
    const text = await metrics.render();
    expect(text).toContain('kubernetes_feature_enabled{name="A",stage="ALPHA"} 0');
    expect(text).toContain('kubernetes_feature_enabled{name="G",stage=""} 1');
  });

  it("shows version, commit and Node's version", async () => {
    const metrics = start();
    recordBuildInfo(metrics, { version: "1.2.3", commit: "abc" });
    expect(await metrics.render()).toContain(
      `quartet_build_info{version="1.2.3",commit="abc",node="${process.version}"} 1`,
    );
  });
});
