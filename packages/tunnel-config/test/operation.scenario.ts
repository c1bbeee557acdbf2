/** The acceptance scenarios of section 12 about cost, and about somebody else in the account. */
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aggregate } from "../src/desired/aggregate.ts";
import { type Loose, openStage, type TunnelStage } from "./support/stage.ts";

/** Longer than anything waits for further changes here. */
const QUIET_MS = 1_500;

let stage: TunnelStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage?.close());

async function createTunnel(): Promise<string> {
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  return stage.activeTunnel("main");
}

describe("cost", () => {
  it("tunnel-config A6 TUN-305 TUN-612 TUN-613 fifty Ingresses by ten writers lose nothing and cost few transmissions", async () => {
    await stage.startManager({ flags: { "tunnel-sync-debounce": 500 } });
    const id = await createTunnel();
    const names = Array.from({ length: 50 }, (_, index) => `i${index}`);
    const before = stage.puts().length;
    const queue = [...names];
    const writer = async (): Promise<void> => {
      for (let name = queue.pop(); name !== undefined; name = queue.pop())
        await stage.ingress(name, `${name}.example.com`, name);
    };
    await Promise.all(Array.from({ length: 10 }, writer));
    await eventually(() => expect(stage.hosts(id)).toHaveLength(51));
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Synced"));
    const document = (await stage.document(id))!;
    expect(Object.keys(document.sources)).toHaveLength(51);
    expect(stage.puts().length - before).toBeLessThanOrEqual(10);
    await eventually(async () => {
      const { lastHash, sources } = (await stage.document(id))!;
      expect([lastHash, stage.remote(id)]).toEqual([aggregate(sources).hash, aggregate(sources).config]);
    });
  });

  it("tunnel-config A7 TUN-001 TUN-304 TUN-306 TUN-612 one changed Ingress is one write and one transmission; a label, a restart and a wait are none", async () => {
    await stage.create("TunnelIngressClassConfig", "manual", {
      spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" }, dnsManagement: "Manual" },
    });
    const manager = await stage.startManager();
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toHaveLength(2));
    await eventually(async () =>
      expect((await stage.get("Ingress", "a")).status?.loadBalancer?.ingress).toHaveLength(1),
    );
    const config = `tunnel-config-${id}`;
    const version = async (): Promise<string> =>
      (await stage.get("ConfigMap", config)).metadata.resourceVersion;
    await quiet();
    let [since, calls] = [Date.now(), stage.cloudflare.requests.length];
    const [rule] = (await stage.get("Ingress", "a")).spec.rules;
    rule.http.paths[0].backend.service.name = "two";
    await stage.patch("Ingress", "a", { spec: { rules: [rule] } });
    await eventually(() => expect(stage.remote(id).ingress[0].service).toContain("two."));
    await quiet();
    const writes = (await stage.writes(since)).filter((write) => write.includes("configmaps"));
    expect(writes).toEqual([`update configmaps ${config}`]);
    expect(stage.cloudflare.requests.slice(calls).map(({ method }) => method)).toEqual(["PUT"]);

    const stored = await version();
    [since, calls] = [Date.now(), stage.cloudflare.requests.length];
    await stage.patch("Ingress", "a", { metadata: { labels: { touched: "yes" } } });
    await quiet();
    await manager.stop();
    await stage.startManager();
    await quiet();
    expect(await version()).toBe(stored);
    expect(stage.cloudflare.requests.slice(calls).filter(({ method }) => method !== "GET")).toEqual([]);
    expect((await stage.writes(since)).filter((write) => !write.includes("leases"))).toEqual([]);
  });
});

/** Waits until nothing is asked of either server for a while. */
async function quiet(): Promise<void> {
  for (let seen = -1; seen !== stage.cloudflare.requests.length; ) {
    seen = stage.cloudflare.requests.length;
    await sleep(QUIET_MS);
  }
}

describe("somebody else in the account", () => {
  it("tunnel-config A8 TUN-632 TUN-633 TUN-634 TUN-642 a configuration changed by somebody else is restored, but not for ever", async () => {
    const manager = await stage.startManager({ flags: { "tunnel-drift-interval": 1500 } });
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    const conditionOf = async (wanted: string): Promise<Loose> =>
      (await stage.get("ClusterTunnel", "main")).status.conditions.find(({ type }: Loose) => type === wanted);
    const tunnel = stage.cloudflare.state.tunnels.get(id)!;
    tunnel.connections = [{ id: "c1" }];
    tunnel.connectorVersion = 0;
    await eventually(async () =>
      expect(await conditionOf("ConnectorsUpToDate")).toMatchObject({ status: "False", reason: "Lagging" }),
    );
    delete tunnel.connectorVersion;
    await eventually(async () =>
      expect(await conditionOf("ConnectorsUpToDate")).toMatchObject({ status: "True", reason: "UpToDate" }),
    );
    const foreign = {
      ingress: [{ hostname: "x.example.com", service: "http://x:1" }, { service: "http_status:404" }],
    };
    const edit = (config: object) =>
      fetch(`${stage.cloudflare.origin}/admin/configurations/${id}`, {
        method: "POST",
        body: JSON.stringify({ config }),
      });
    for (let round = 0; round < 3; round += 1) {
      await edit(foreign);
      await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    }
    expect(manager.log()).toContain("DriftDetected");
    const puts = stage.puts().length;
    await edit(foreign);
    await sleep(5000);
    expect([stage.hosts(id), stage.puts().length]).toEqual([["x.example.com", undefined], puts]);
    await eventually(async () => {
      expect(await conditionOf("ConfigConflict")).toMatchObject({ status: "True", reason: "ForeignWriter" });
    });
    await stage.ingress("b", "b.example.com", "two");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]));

    // Reported alone, nothing is sent: what was sent last is still what is compared with, and nothing is held yet.
    const annotate = (annotations: Loose): Promise<void> =>
      stage.patch("ClusterTunnel", "main", { metadata: { annotations } });
    const ours = stage.remote(id);
    const kept = async (key: string): Promise<Loose> =>
      JSON.parse((await stage.get("ConfigMap", `tunnel-config-${id}`)).data[key]);
    const { configVersion } = await kept("config.json");
    const former = (await kept("history.json")).find(({ rules }: Loose) => rules === 1).version;
    await annotate({ "cloudflare-operator.io/drift-policy": "report" });
    await edit(foreign);
    await eventually(async () =>
      expect(await conditionOf("ConfigConflict")).toMatchObject({ status: "True", reason: "DriftReported" }),
    );
    await annotate({ "cloudflare-operator.io/rollback-to": String(former) });
    await stage.ingress("c", "c.example.com", "three");
    await sleep(2000);
    const document = await kept("config.json");
    expect(document).toMatchObject({ configVersion, conflict: { reason: "DriftReported" } });
    expect(document).not.toHaveProperty("frozen");
    expect(Object.keys(document.sources).filter((key) => key.endsWith("/c"))).toEqual([]);
    await annotate({ "cloudflare-operator.io/rollback-to": null });
    await edit(ours);
    await eventually(() =>
      expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", "c.example.com", undefined]),
    );
    await eventually(async () =>
      expect(await conditionOf("ConfigConflict")).toMatchObject({ status: "False" }),
    );
  });
});
