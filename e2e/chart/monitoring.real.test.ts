/** What the chart gives Prometheus and Grafana; none of it may speak of a metric that does not exist. */
import { readFileSync } from "node:fs";
import { createMetrics } from "@quartet/core";
import { expect, it } from "vitest";
import { only, type Rendered, render } from "./support/chart.ts";

const DOCS = new URL("../../docs/reference/", import.meta.url);

it("CORE-538 alert on metrics that exist, each with a heading in the runbook", async () => {
  const alerts = only(
    await render(['metrics={"prometheusRule":{"enabled":true,"runbookUrl":"https://x/"}}']),
    "PrometheusRule",
  ).spec.groups[0].rules;
  expect(alerts).toHaveLength(17);
  const metrics = readFileSync(new URL("metrics.md", DOCS), "utf8");
  const runbook = readFileSync(new URL("alerts.md", DOCS), "utf8");
  for (const { alert, expr, annotations } of alerts) {
    expect(runbook).toContain(`\n## ${alert}\n`);
    expect(annotations.runbook_url).toBe(`https://x/#${alert.toLowerCase()}`);
    const names = [...expr.matchAll(/([a-z_]+)\{/g)].map(([, name]) => name.replace(/_bucket$/, ""));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      if (!name.startsWith("kube_pod_")) expect(metrics).toContain(`\`${name}\``);
    }
  }
});

it("CORE-532 are scraped by a ServiceMonitor or a PodMonitor if asked, under the same job", async () => {
  const monitors = async (...values: string[]): Promise<Rendered[]> =>
    (await render(values)).filter(({ kind }) => kind.endsWith("Monitor"));
  expect(await monitors()).toEqual([]);
  const [service] = await monitors('metrics={"serviceMonitor":{"enabled":true,"labels":{"release":"x"}}}');
  expect(service).toMatchObject({ kind: "ServiceMonitor", metadata: { labels: { release: "x" } } });
  const [pod] = await monitors('metrics={"podMonitor":{"enabled":true,"labels":{"release":"x"}}}');
  expect(pod).toMatchObject({
    kind: "PodMonitor",
    metadata: { labels: { release: "x" } },
    spec: {
      selector: only(await render(), "Deployment").spec.selector,
      podMetricsEndpoints: [
        { port: "metrics", relabelings: [{ targetLabel: "job", replacement: "quartet-metrics" }] },
      ],
    },
  });
  const secret = '"podMonitor":{"enabled":true,"bearerTokenSecret":{"name":"scraper"}}';
  const [secure] = await monitors(`metrics={"secure":true,${secret}}`);
  expect(secure!.spec.podMetricsEndpoints[0]).toMatchObject({
    scheme: "https",
    bearerTokenSecret: { name: "scraper", key: "token" },
  });
  const [unverified] = await monitors('metrics={"secure":true,"serviceMonitor":{"enabled":true}}');
  expect(unverified!.spec.endpoints[0].tlsConfig).toEqual({ insecureSkipVerify: true });
  const certified = '"secure":true,"certSecret":"cert"';
  const tlsConfig = {
    ca: { secret: { name: "cert", key: "ca.crt" } },
    serverName: "quartet-metrics.ops.svc",
  };
  const [verified] = await monitors(`metrics={${certified},"serviceMonitor":{"enabled":true}}`);
  expect(verified!.spec.endpoints[0].tlsConfig).toEqual(tlsConfig);
  const [verifiedPods] = await monitors(`metrics={${certified},${secret}}`);
  expect(verifiedPods!.spec.podMetricsEndpoints[0].tlsConfig).toEqual(tlsConfig);
  const both = 'metrics={"serviceMonitor":{"enabled":true},"podMonitor":{"enabled":true}}';
  await expect(monitors(both)).rejects.toThrow("enable one of them");
});

it("CORE-532 have a dashboard if asked, of metrics that exist with the labels that it goes by", async () => {
  const dashboards = async (...values: string[]): Promise<Rendered[]> =>
    (await render(values)).filter(({ metadata }) => metadata.name === "quartet-dashboard");
  expect(await dashboards()).toEqual([]);
  const [map] = await dashboards('metrics={"grafanaDashboard":{"enabled":true}}');
  expect(map!.metadata).toMatchObject({ labels: { grafana_dashboard: "1" } });
  const dashboard = JSON.parse(map!.data["quartet.json"]) as Dashboard;
  const known = await knownMetrics();
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  expect(panels.length).toBeGreaterThan(15);
  for (const { title, targets = [] } of panels) {
    expect(targets, title).not.toEqual([]);
    for (const { expr } of targets) {
      const [, name = "", part] = /([a-z][a-z0-9_]*?)(_bucket)?\{job=~"\$job"\}/.exec(expr) ?? [];
      const metric = known.get(name);
      expect(metric, `${title}: ${expr}`).toBeDefined();
      expect(metric!.type === "histogram").toBe(part !== undefined);
      expect(metric!.type === "counter").toBe(part === undefined && /(rate|increase)\(/.test(expr));
      const [, labels = ""] = /by \(([^)]*)\)/.exec(expr) ?? [];
      for (const label of labels.split(", ").filter((text) => !["", "le", "pod"].includes(text)))
        expect(metric!.labels, `${title}: ${expr}`).toContain(label);
    }
  }
});

interface Dashboard {
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
}

/** Metrics by name: those of the reference, and those of process and Node, which a registry has from the start. */
async function knownMetrics(): Promise<Map<string, { type: string; labels: string[] }>> {
  const reference = readFileSync(new URL("metrics.md", DOCS), "utf8");
  const rows = reference.matchAll(/^\| `([a-z_]+)` \| (\w+) \| ([^|]*)\|/gm);
  const known = new Map<string, { type: string; labels: string[] }>();
  for (const [, name, type, labels] of rows) {
    known.set(name!, { type: type!, labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!) });
  }
  for (const [, name, type] of (await createMetrics().render()).matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    known.set(name!, { type: type!, labels: [] });
  }
  return known;
}
