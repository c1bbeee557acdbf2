/** All metric families of a manager with all controllers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { webhookMetrics } from "@quartet/core";
import { MODULES, startManager } from "@quartet/manager";
import { startDouble } from "@quartet/testing";
import type { MetricFamily } from "./reference.ts";

/** Starts a manager against an API server double and asks its registry. */
export async function metricFamilies(): Promise<MetricFamily[]> {
  const folder = mkdtempSync(join(tmpdir(), "quartet-generate-"));
  const api = await startDouble();
  try {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, await api.kubeconfig(), { mode: 0o600 });
    const addresses = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`);
    const running = await startManager({
      modules: MODULES,
      args: [`--kubeconfig=${kubeconfig}`, "--webhook-port=-1", "--leader-elect=false", ...addresses],
      logDestination: { write: () => true },
      processMetrics: false,
    });
    const { metrics } = running.manager;
    webhookMetrics(metrics, []);
    const families = metrics.registry.getMetricsAsArray().map(describe);
    await running.stop();
    return families;
  } finally {
    await api.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function describe(metric: object): MetricFamily {
  const { name, help, labelNames = [] } = metric as { name: string; help: string; labelNames?: string[] };
  return { name, help, labels: labelNames, type: metric.constructor.name.toLowerCase() };
}
