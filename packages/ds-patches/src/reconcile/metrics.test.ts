import { createMetrics } from "@quartet/core";
import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { createPatchMetrics } from "./metrics.ts";

const daemonSet = { metadata: { namespace: "t", name: "agent" } } as DaemonSet;
const linesOf = async (metrics: ReturnType<typeof createMetrics>): Promise<string[]> =>
  (await metrics.render()).split("\n").filter((line) => line.startsWith("daemonset_patches"));

it("DSP-1013 durations are told by mode and cache, from a twentieth of a millisecond to a tenth of a second", async () => {
  const metrics = createMetrics();
  const patches = createPatchMetrics(metrics);
  patches.duration(0.2, false);
  patches.duration(0.04, true);
  const lines = await linesOf(metrics);
  const buckets = lines.filter((line) => line.includes('cache="miss"') && line.includes("_bucket"));
  expect(buckets.map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual([
    ...["0.00005", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.05", "0.1"],
    "+Inf",
  ]);
  expect(buckets.map((line) => line.split(" ").at(-1))).toEqual(["0", "0", ...Array(9).fill("1")]);
  expect(lines).toContainEqual(expect.stringMatching(/_count\{mode="owner",cache="hit"\} 1$/));
});

it("DSP-1011 DSP-1012 DSP-1014 DSP-1015 DSP-1016 what is counted of a DaemonSet goes with it", async () => {
  const metrics = createMetrics();
  const patches = createPatchMetrics(metrics);
  patches.applied(daemonSet, 2);
  patches.applied(daemonSet, 0);
  patches.failed(daemonSet, "apply_failed");
  patches.stale(daemonSet, 3);
  const labels = 'namespace="t",daemonset="agent"';
  expect(await linesOf(metrics)).toEqual([
    `daemonset_patches_applied_total{${labels},mode="owner"} 2`,
    `daemonset_patches_errors_total{${labels},reason="apply_failed"} 1`,
    `daemonset_patches_stale_pods{${labels}} 3`,
  ]);
  patches.forget({ namespace: "t", name: "agent" });
  expect(await linesOf(metrics)).toEqual([]);
});
