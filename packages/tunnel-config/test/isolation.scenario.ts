/** What happens to one account, token or object stays with it; and what a burst costs. */
import { eventually, type TestManager } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, openStage, shareStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;

/** Further credentials, for an account of their own. */
async function createAccount(name: string): Promise<void> {
  const { state, users } = stage.cloudflare;
  state.accounts.set(`${name}-id`, { id: `${name}-id`, name });
  const tester = users.tokens.get("test-token")!;
  users.tokens.set(`${name}-token`, { ...tester, name });
  const token = Buffer.from(`${name}-token`).toString("base64");
  await stage.create("Secret", name, { data: { CLOUDFLARE_API_TOKEN: token } });
  await stage.create("CloudflareCredentials", name, {
    spec: {
      accountId: `${name}-id`,
      authType: "apiToken",
      secretRef: { name, namespace: stage.namespace },
    },
  });
}

const tunnelOf = (name: string, account: string): object => ({
  spec: { newTunnel: { name }, cloudflare: { credentialsRef: { name: account } } },
});

describe("accounts that fail", () => {
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.close());

  it("TUN-1004 TUN-1010 accounts that do not answer, are broken or refuse calls as too many hold no tunnel of another back", async () => {
    const faults = {
      silent: { hang: true },
      broken: { status: 500 },
      limited: { status: 429, headers: { "retry-after": "600" } },
    };
    await createAccount("alive");
    for (const [name, fault] of Object.entries(faults)) {
      await createAccount(name);
      stage.cloudflare.faults.add({ path: new RegExp(`accounts/${name}-id`), ...fault });
    }
    await stage.startManager();
    for (let index = 0; index < 12; index += 1)
      for (const name of Object.keys(faults))
        await stage.create("ClusterTunnel", `${name}-${index}`, tunnelOf(`${name}-${index}`, name));
    await stage.create("ClusterTunnel", "alive", tunnelOf("alive", "alive"));
    const id = await stage.activeTunnel("alive");
    await stage.create("TunnelBinding", "a", {
      subjects: [{ name: "x", spec: { fqdn: "a.example.com", target: "http://x:80" } }],
      tunnelRef: { kind: "ClusterTunnel", name: "alive", disableDNSUpdates: true },
    });
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
  });
});

describe("one manager", () => {
  let manager: TestManager;
  const shared = shareStage(async (opened) => {
    manager = await opened.startManager({ flags: { "tunnel-sync-debounce": 500 } });
  });
  beforeEach(() => {
    stage = shared.stage;
  });

  it("TUN-115 a right that a token lacks is named", async () => {
    const { users } = stage.cloudflare;
    const whole = users.tokens.get("test-token")!;
    const { permissions, name } = whole;
    users.tokens.set("test-token", { name, permissions: permissions.filter((one) => one !== "dns:edit") });
    await stage.create("DNSRecord", "r", {
      spec: { name: "r.example.com", type: "A", content: "192.0.2.1" },
    });
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", "r")).toMatchObject({ reason: "PermissionDenied" }),
    );
    expect((await stage.ready("DNSRecord", "r")).message).toMatch(/the token needs "[^"]*DNS/);
    users.tokens.set("test-token", whole);
  });

  it("TUN-005 no credential, tunnel secret or token is seen in objects, events, logs or metrics", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    await stage.ingress("a", "a.example.com", "a");
    await eventually(() => expect(stage.hosts(id)).toHaveLength(2));
    stage.cloudflare.faults.add({
      path: /configurations/,
      method: /PUT/,
      status: 403,
      message: "no: test-token",
    });
    await stage.ingress("b", "b.example.com", "b");
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Error"));
    const { secret } = stage.cloudflare.state.tunnels.get(id)!;
    const token = Buffer.from((await stage.get("Secret", "main-token")).data.token, "base64").toString();
    const all = JSON.stringify([
      await stage.list("ConfigMap"),
      await stage.get("ClusterTunnel", "main"),
      await stage.get("Deployment", "main"),
      await stage.events("main"),
      manager.log(),
      await manager.metrics(),
    ]);
    for (const hidden of ["test-token", secret, token]) expect(all).not.toContain(hidden);
  });

  it("TUN-114 credentials that something names stay until nothing does", async () => {
    await createAccount("used");
    await stage.create("DNSRecord", "r", {
      spec: {
        name: "r.example.com",
        type: "A",
        content: "192.0.2.1",
        cloudflare: { credentialsRef: { name: "used" } },
      },
    });
    await eventually(async () => expect((await stage.get("DNSRecord", "r")).status?.state).toBe("Active"));
    await stage.remove("CloudflareCredentials", "used");
    await eventually(async () => {
      const { conditions } = (await stage.get("CloudflareCredentials", "used")).status;
      const inUse = conditions.find(({ type }: Loose) => type === "InUse");
      expect(inUse.message).toContain(`DNSRecord/${stage.namespace}/r`);
    });
    await stage.remove("DNSRecord", "r");
    await eventually(async () => expect(await stage.find("CloudflareCredentials", "used")).toBeUndefined());
    expect(stage.cloudflare.state.zones.get("test-zone-id")!.records.size).toBe(0);
  });

  it("TUN-613 TUN-1002 a burst of 200 Ingresses is at most five transmissions", async () => {
    await stage.create("TunnelIngressClassConfig", "manual", {
      spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" }, dnsManagement: "Manual" },
    });
    const parameters = {
      apiGroup: "networking.cloudflare-operator.io",
      kind: "TunnelIngressClassConfig",
      name: "manual",
      namespace: stage.namespace,
      scope: "Namespace",
    };
    await stage.create("IngressClass", "manual", {
      spec: { controller: "cloudflare-operator.io/ingress-controller", parameters },
    });
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    const from = stage.puts().length;
    const since = Date.now();
    const names = Array.from({ length: 200 }, (_, index) => `i${index}`);
    const writer = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const backend = { service: { name, port: { number: 80 } } };
        const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
        const rules = [{ host: `${name}.example.com`, http }];
        await stage.create("Ingress", name, { spec: { ingressClassName: "manual", rules } });
      }
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    await eventually(() => expect(stage.hosts(id)).toHaveLength(201));
    await eventually(async () => expect(Object.keys((await stage.document(id))!.sources)).toHaveLength(201));
    expect(stage.puts().length - from).toBeLessThanOrEqual(5);
    const writes = (await stage.writes(since)).filter((write) => write.includes("configmaps"));
    expect(writes.length).toBeLessThanOrEqual(5);
    expect(await manager.metrics()).toContain("quartet_tunnel_rules");
  });
});
