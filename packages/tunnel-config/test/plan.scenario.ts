/** What commands tell of a cluster and its account. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, createLogging, loadConnection, parseLogLevels, systemClock } from "@quartet/core";
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { planTunnels, type TunnelPlan } from "../src/index.ts";
import { shareStage, type TunnelStage } from "./support/stage.ts";

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

/** What the command would find, by the rights of the manager. */
async function planned(): Promise<TunnelPlan> {
  const folder = await mkdtemp(join(tmpdir(), "quartet-plan-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await stage.kubeconfig(), { mode: 0o600 });
  const { log } = createLogging({ levels: parseLogLevels("error"), destination: { write: () => {} } });
  const connection = await loadConnection({ kubeconfig, log, clock: systemClock });
  const client = createClient({ connection, version: "test", log });
  try {
    const { namespace, cloudflare } = stage;
    const options = { operatorNamespace: namespace, namespaces: [namespace], baseUrl: cloudflare.url };
    const [found] = await planTunnels({ client, clock: systemClock, ...options });
    return found!;
  } finally {
    client.close();
    await rm(folder, { recursive: true });
  }
}

describe("commands", () => {
  it("TUN-639 a plan says what is not transmitted yet and what somebody else has changed, and changes nothing", async () => {
    await stage.create("Tunnel", "none", {
      spec: { newTunnel: { name: "x" }, existingTunnel: { name: "x" } },
    });
    await eventually(async () =>
      expect(await stage.ready("Tunnel", "none")).toMatchObject({ reason: "InvalidSpec" }),
    );
    expect(await planned()).toMatchObject({
      tunnelId: "",
      problem: expect.stringContaining("mutually exclusive"),
    });
    await stage.remove("Tunnel", "none");
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Synced"));
    const inStep = { tunnelId: id, objects: ["ClusterTunnel/main"], rules: 1, unsent: [], foreign: [] };
    expect(await planned()).toMatchObject(inStep);

    await stage.patch("ClusterTunnel", "main", {
      metadata: { annotations: { "cloudflare-operator.io/pause": "true" } },
    });
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({ reason: "Paused" }),
    );
    await stage.ingress("b", "b.example.com", "two");
    const config = {
      ingress: [{ hostname: "x.example.com", service: "http://x:80" }, { service: "http_status:404" }],
    };
    const body = JSON.stringify({ config });
    await fetch(`${stage.cloudflare.origin}/admin/configurations/${id}`, { method: "POST", body });
    const transmitted = stage.puts().length;
    const { namespace } = stage;
    expect(await planned()).toMatchObject({
      unsent: [
        `+ b.example.com, every path: http://two.${namespace}.svc:80; asked for by Ingress/${namespace}/b`,
      ],
      foreign: [
        `- a.example.com, every path: http://one.${namespace}.svc:80`,
        "+ x.example.com, every path: http://x:80",
      ],
    });
    expect(stage.puts().length).toBe(transmitted);
    stage.cloudflare.faults.add({ path: /cfd_tunnel/, method: /GET/, status: 403 });
    expect((await planned()).problem).toContain("403");
    stage.cloudflare.faults.clear();
  });

  it("TUN-479 TUN-480 TUN-641 what is served but hardly meant so is told to its owners, and in the plan", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.create("Service", "web", { spec: { ports: [{ port: 8080 }] } });
    await stage.create("TunnelBinding", "broad", {
      subjects: [{ name: "x", spec: { fqdn: "a.example.com", path: "/pay", target: "http://x:80" } }],
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
    });
    await stage.ingress("pay", "a.example.com", "web", "/pay");
    await stage.ingress("wild", "*.example.com", "web");
    await eventually(() => expect(stage.hosts(id)).toHaveLength(4));
    const told: [name: string, ...texts: RegExp[]][] = [
      [
        "pay",
        /^Warning RuleShadowed .*TunnelBinding\/.*\/broad/,
        /^Warning PortNotInService .*no port 80, its ports: 8080/,
      ],
      ["wild", /^Warning WildcardDepth .*not example\.com itself/, /^Warning PortNotInService /],
    ];
    for (const [name, ...texts] of told)
      await eventually(async () => {
        const events = await stage.events(name);
        for (const text of texts) expect(events).toContainEqual(expect.stringMatching(text));
      });
    const { warnings } = await planned();
    expect(warnings).toContainEqual(
      expect.stringMatching(/^Ingress\/.*\/pay: a\.example\.com, .* is never reached/),
    );
    expect(warnings).toContainEqual(
      expect.stringMatching(/^Ingress\/.*\/wild: \*\.example\.com serves every name/),
    );
  });
});
