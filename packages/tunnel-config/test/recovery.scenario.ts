/** Interruptions and moves: nothing is lost, made twice or left behind. */
import { setTimeout as sleep } from "node:timers/promises";
import { testNamespace } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, openStage, shareStage, type TunnelStage } from "./support/stage.ts";

const TUNNELS = "/accounts/test-account-id/cfd_tunnel";
const RECORDS = "/zones/test-zone-id/dns_records";

let stage: TunnelStage;
const openOwn = (): void => {
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.close());
};

async function createTunnel(name: string): Promise<string> {
  await stage.create("ClusterTunnel", name, { spec: { newTunnel: { name } } });
  return stage.activeTunnel(name);
}

const liveTunnels = (): Loose[] =>
  [...stage.cloudflare.state.tunnels.values()].filter(({ fields }) => fields.deleted_at === null);
const records = (): Loose[] => [...stage.cloudflare.state.zones.get("test-zone-id")!.records.values()];
const calls = (from: number, method: string, path: string): Loose[] =>
  stage.cloudflare.requests.slice(from).filter((call) => call.method === method && call.path.includes(path));
const binding = (host: string): object => ({
  subjects: [{ name: "x", spec: { fqdn: host, target: "http://x:80" } }],
  tunnelRef: { kind: "ClusterTunnel", name: "main" },
});

describe("ends of the manager", () => {
  openOwn();

  it("tunnel-config A11 TUN-313 TUN-476 TUN-618 what was deleted while nobody looked is not in the first configuration", async () => {
    const manager = await stage.startManager();
    const id = await createTunnel("main");
    for (const name of ["a", "b"]) await stage.ingress(name, `${name}.example.com`, name);
    await stage.create("TunnelBinding", "c", binding("c.example.com"));
    await eventually(() => expect(stage.hosts(id)).toHaveLength(4));
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Synced"));
    await manager.stop();
    await stage.remove("Ingress", "a");
    await stage.remove("TunnelBinding", "c");
    const from = stage.puts().length;
    await stage.startManager();
    await eventually(() => expect(stage.hosts(id)).toEqual(["b.example.com", undefined]));
    expect(
      stage
        .puts()
        .slice(from)
        .map(({ ingress }) => ingress.length),
    ).toEqual([2]);
  });

  it("TUN-205 a manager that ends before it has noted a creation leaves one tunnel behind, and the next takes it", async () => {
    stage.cloudflare.faults.add({
      path: /cfd_tunnel$/,
      method: /POST/,
      hang: true,
      afterwards: true,
      times: 1,
    });
    const manager = await stage.startManager();
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await eventually(() => expect(liveTunnels()).toHaveLength(1));
    await manager.stop();
    await stage.startManager();
    const id = await stage.activeTunnel("main");
    expect(liveTunnels().map(({ fields }) => fields.id)).toEqual([id]);
    // What is read may be older than what was written.
    await stage.patch("ClusterTunnel", "main", { status: { tunnelId: "" } }, "status");
    // A change of the status alone leads to no pass.
    await stage.patch("ClusterTunnel", "main", { metadata: { labels: { touched: "yes" } } });
    await eventually(async () => expect((await stage.get("ClusterTunnel", "main")).status.tunnelId).toBe(id));
    expect(calls(0, "POST", TUNNELS)).toHaveLength(1);
  });
});

describe("places", () => {
  openOwn();

  it("tunnel-config A13 TUN-212 TUN-309 the configuration of a Tunnel elsewhere has no owner that would take it along", async () => {
    const operator = await testNamespace(stage.client);
    stage.onClose(() => operator.empty());
    const { namespace } = stage;
    const flags = { "tunnel-operator-namespace": operator.name };
    await stage.startManager({ namespaces: [namespace, operator.name], flags });
    await stage.create("Tunnel", "own", { spec: { newTunnel: { name: "own" } } });
    await stage.create("TunnelBinding", "a", {
      ...binding("a.example.com"),
      tunnelRef: { kind: "Tunnel", name: "own" },
    });
    let id = "";
    await eventually(async () => {
      id = (await stage.get("Tunnel", "own")).status?.tunnelId ?? "";
      expect(stage.hosts(id)).toEqual(["a.example.com", undefined]);
    });
    const path = `/api/v1/namespaces/${operator.name}/configmaps/tunnel-config-${id}`;
    await sleep(2_000);
    const { metadata } = await stage.client.ok<Loose>("GET", path);
    expect([metadata.ownerReferences, metadata.annotations]).toEqual([
      undefined,
      { "cloudflare-operator.io/owner": `Tunnel/${namespace}/own` },
    ]);
    expect((await stage.get("Secret", "own-token")).metadata.namespace).toBe(namespace);
    await stage.remove("TunnelBinding", "a");
    await stage.remove("Tunnel", "own");
    await eventually(async () => {
      expect(await stage.find("Tunnel", "own")).toBeUndefined();
      expect(liveTunnels()).toEqual([]);
      expect((await stage.client.request("GET", path)).code).toBe(404);
    });
  });

  it("tunnel-config A16 TUN-808 TUN-805 a name too long for a comment is a hash there, and is known again", async () => {
    const manager = await stage.startManager();
    const name = "r".repeat(90);
    const spec = { name: "long.example.com", type: "A", content: "192.0.2.1", comment: "c".repeat(100) };
    await stage.create("DNSRecord", name, { spec });
    await eventually(() => expect(records()).toHaveLength(1));
    const [{ comment }] = records();
    expect(comment).toMatch(/^\[managed-by:DNSRecord\/~[0-9a-f]{20}\] c+…$/);
    expect([...comment].length).toBe(100);
    await manager.stop();
    const from = stage.cloudflare.requests.length;
    await stage.startManager();
    await stage.patch("DNSRecord", name, { metadata: { annotations: { touched: "yes" } } });
    await eventually(() => expect(calls(from, "GET", RECORDS).length).toBeGreaterThan(0));
    await sleep(1_000);
    expect(stage.cloudflare.requests.slice(from).filter(({ method }) => method !== "GET")).toEqual([]);
    expect((await stage.get("DNSRecord", name)).status.state).toBe("Active");
  });
});

describe("interruptions", () => {
  const shared = shareStage();
  beforeEach(() => {
    stage = shared.stage;
  });

  it("TUN-205 TUN-1005 a tunnel whose creation was not answered is found, not made again", async () => {
    const cut = { method: /POST/, cut: true, afterwards: true, times: 1 } as const;
    stage.cloudflare.faults.add({ path: /cfd_tunnel$/, ...cut });
    stage.cloudflare.faults.add({ path: /dns_records$/, ...cut });
    const id = await createTunnel("main");
    await stage.ingress("a", "a.example.com", "a");
    await eventually(async () => {
      const { status } = await stage.get("DNSRecord", "a-a-example-com");
      expect(status?.state).toBe("Active");
    });
    expect(liveTunnels().map(({ fields }) => fields.id)).toEqual([id]);
    expect(records()).toHaveLength(1);
    expect([calls(0, "POST", TUNNELS), calls(0, "POST", RECORDS)].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
  });

  it("TUN-614 what changes while a transmission waits for its answer is not lost", async () => {
    const id = await createTunnel("main");
    stage.cloudflare.faults.add({ path: /configurations/, method: /PUT/, delayMs: 2_000, times: 1 });
    await stage.ingress("a", "a.example.com", "a");
    await eventually(() => expect(stage.hosts(id)).toContain("a.example.com"));
    await stage.ingress("b", "b.example.com", "b");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]));
    await eventually(async () =>
      expect(Object.keys((await stage.document(id))!.sources)).toEqual([
        "ClusterTunnel/main",
        `Ingress/${stage.namespace}/a`,
        `Ingress/${stage.namespace}/b`,
      ]),
    );
  });

  it("TUN-215 TUN-636 a tunnel that was deleted in the account is made anew, and all that names it follows", async () => {
    const id = await createTunnel("main");
    await stage.ingress("a", "a.example.com", "a");
    await eventually(() => expect(records()).toHaveLength(1));
    const [{ id: recordId }] = records();
    stage.cloudflare.state.tunnels.get(id)!.fields.deleted_at = new Date().toISOString();
    await stage.ingress("b", "b.example.com", "b");
    await eventually(async () => {
      const { status } = await stage.get("ClusterTunnel", "main");
      expect(status.tunnelId).not.toBe(id);
      expect(stage.hosts(status.tunnelId)).toEqual(["a.example.com", "b.example.com", undefined]);
      const record = records().find(({ name }) => name === "a.example.com");
      expect([record.id, record.content]).toEqual([recordId, `${status.tunnelId}.cfargotunnel.com`]);
      const { data } = await stage.get("Secret", "main-token");
      const token = Buffer.from(Buffer.from(data.token, "base64").toString(), "base64").toString();
      expect(JSON.parse(token).t).toBe(status.tunnelId);
      expect(await stage.find("ConfigMap", `tunnel-config-${id}`)).toBeUndefined();
    });
  });

  it("tunnel-config A12 TUN-315 TUN-316 a broken or deleted ConfigMap is made anew, and no rule is lost meanwhile", async () => {
    const id = await createTunnel("main");
    for (const name of ["a", "b"]) await stage.ingress(name, `${name}.example.com`, name);
    await eventually(() => expect(stage.hosts(id)).toHaveLength(3));
    const from = stage.puts().length;
    await stage.patch("ConfigMap", `tunnel-config-${id}`, { data: { "config.json": "{broken" } });
    await eventually(async () =>
      expect(Object.keys((await stage.document(id))?.sources ?? {})).toHaveLength(3),
    );
    expect((await stage.get("ConfigMap", `tunnel-config-${id}`)).data["config.json.bak"]).toBe("{broken");
    await stage.remove("ConfigMap", `tunnel-config-${id}`);
    await eventually(async () =>
      expect(Object.keys((await stage.document(id))?.sources ?? {})).toHaveLength(3),
    );
    expect(
      stage
        .puts()
        .slice(from)
        .every(({ ingress }) => ingress.length === 3),
    ).toBe(true);
  });

  it("tunnel-config A20 TUN-312 a host that moves to another tunnel is served there before it leaves the first", async () => {
    const classOf = async (name: string): Promise<string> => {
      await stage.create("TunnelIngressClassConfig", name, {
        spec: { tunnelRef: { kind: "ClusterTunnel", name } },
      });
      await stage.create("IngressClass", name, {
        spec: {
          controller: "cloudflare-operator.io/ingress-controller",
          parameters: {
            apiGroup: "networking.cloudflare-operator.io",
            kind: "TunnelIngressClassConfig",
            name,
            namespace: stage.namespace,
            scope: "Namespace",
          },
        },
      });
      return createTunnel(name);
    };
    const [one, two] = [await classOf("one"), await classOf("two")];
    await stage.ingress("a", "a.example.com", "a");
    await stage.patch("Ingress", "a", { spec: { ingressClassName: "one" } });
    await eventually(() => expect(stage.hosts(one)).toEqual(["a.example.com", undefined]));
    await eventually(() => expect(records()).toHaveLength(1));
    const [{ id }] = records();
    const from = stage.cloudflare.requests.length;
    await stage.patch("Ingress", "a", { spec: { ingressClassName: "two" } });
    await eventually(() =>
      expect([stage.hosts(one), stage.hosts(two)]).toEqual([[undefined], ["a.example.com", undefined]]),
    );
    const order = calls(from, "PUT", "/configurations").map(({ path }) =>
      path.includes(one) ? "one" : "two",
    );
    expect(order.indexOf("two")).toBeLessThan(order.indexOf("one"));
    await eventually(() => {
      const [record] = records();
      expect([record.id, record.content]).toEqual([id, `${two}.cfargotunnel.com`]);
    });
  });
});
