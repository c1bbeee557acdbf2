import { createMetrics } from "@quartet/core";
import type { AdmissionContext } from "@quartet/core/webhook";
import { expect, it } from "vitest";
import { counted, type HookContext } from "./hooks/context.ts";
import { createConfigMetrics, createDenialCounter, createServerMetrics } from "./metrics.ts";

/** Samples of the package's own figures. */
async function samples(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const text = await metrics.render();
  return text.split("\n").filter((line) => line.startsWith("quartet_tars_"));
}

it("TARS-R-100 figures of a server go with it", async () => {
  const metrics = createMetrics();
  const figures = createServerMetrics(metrics);
  const key = { namespace: "ns1", name: "demo-a" };
  figures.holds(key, 2, 1);
  const pods = (await samples(metrics)).filter((line) => line.startsWith("quartet_tars_endpoint_pods"));
  expect(pods).toEqual([
    'quartet_tars_endpoint_pods{namespace="ns1",server="demo-a",state="active"} 2',
    'quartet_tars_endpoint_pods{namespace="ns1",server="demo-a",state="inactive"} 1',
  ]);
  figures.forget(key);
  expect((await samples(metrics)).join()).not.toContain("demo-a");
});

it("TARS-R-102 versions are counted by what became of them", async () => {
  const metrics = createMetrics();
  const { changed } = createConfigMetrics(metrics);
  for (const action of ["deleted", "deactivated", "deleted"] as const) changed(action);
  expect((await samples(metrics)).sort()).toEqual([
    'quartet_tars_config_versions_total{action="deactivated"} 1',
    'quartet_tars_config_versions_total{action="deleted"} 2',
  ]);
});

it("TARS-R-103 denials are counted by kind and operation, but for requests that only try", async () => {
  const metrics = createMetrics();
  const context = { countDenial: createDenialCounter(metrics) } as unknown as HookContext;
  const request = { kind: { kind: "TConfig" }, operation: "DELETE" };
  const ask = (answer: object, dryRun = false) =>
    counted(context, { request, dryRun } as unknown as AdmissionContext, answer);
  ask({ refused: "no" });
  ask({ refused: "no" }, true);
  ask([]);
  ask({ kind: "TConfig" });
  expect(await samples(metrics)).toEqual([
    'quartet_tars_denied_requests_total{kind="TConfig",operation="DELETE"} 1',
  ]);
});
