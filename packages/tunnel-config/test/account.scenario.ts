/** The acceptance scenarios of section 12 about the account and tunnels. */
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

const TUNNELS = "/accounts/test-account-id/cfd_tunnel";

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

async function createTunnel(): Promise<string> {
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  return stage.activeTunnel("main");
}

const changing = () =>
  stage.cloudflare.requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${path}`);

describe("the account", () => {
  it("tunnel-config A9 TUN-1004 a refusal as one call too many is waited out and leaves no trace", async () => {
    const id = await createTunnel();
    stage.cloudflare.faults.add({
      path: /configurations/,
      method: /PUT/,
      status: 429,
      headers: { "retry-after": "3" },
      times: 1,
    });
    const from = stage.cloudflare.requests.length;
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    const puts = stage.cloudflare.requests.slice(from).filter(({ method }) => method === "PUT");
    const refused = puts.findIndex(({ status }) => status === 429);
    expect(puts[refused + 1]!.time - puts[refused]!.time).toBeGreaterThanOrEqual(2900);
    await eventually(async () => {
      const { syncStatus, lastError } = (await stage.document(id))!;
      expect([syncStatus, lastError]).toEqual(["Synced", undefined]);
    });
  });

  it("tunnel-config A14 TUN-203 TUN-204 TUN-217 a tunnel of the name is taken over unless it is in use", async () => {
    const headers = { authorization: "Bearer test-token" };
    const body = JSON.stringify({ name: "main", config_src: "cloudflare" });
    const answer = await fetch(stage.cloudflare.url + TUNNELS, { method: "POST", headers, body });
    const { id } = ((await answer.json()) as Loose).result;
    const status = (value: string) =>
      fetch(`${stage.cloudflare.origin}/admin/tunnels/${id}/status`, {
        method: "POST",
        body: JSON.stringify({ status: value }),
      });
    await status("healthy");
    const from = stage.cloudflare.requests.length;
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({
        status: "False",
        reason: "TunnelNameConflict",
      }),
    );
    expect((await stage.get("ClusterTunnel", "main")).metadata.finalizers).toEqual([
      "cloudflare-operator.io/finalizer",
    ]);
    expect((await stage.ready("ClusterTunnel", "main")).message).toContain(
      'cloudflare-operator.io/adopt: "true"',
    );
    await stage.patch("ClusterTunnel", "main", {
      metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } },
    });
    expect(await stage.activeTunnel("main")).toBe(id);
    expect(changing().slice(from)).not.toContain(`POST ${TUNNELS}`);
  });

  it("tunnel-config A18 TUN-207 TUN-214 TUN-216 TUN-218 TUN-223 TUN-232 TUN-233 TUN-236 a tunnel has a Deployment as patched, and takes its counterpart with it", async () => {
    const id = await createTunnel();
    await stage.patch("ClusterTunnel", "main", { spec: { deployPatch: "spec:\n  replicas: 0\n" } });
    await eventually(async () => {
      const { conditions } = (await stage.get("ClusterTunnel", "main")).status;
      const told = conditions.map(({ type, status }: Loose) => `${type} ${status}`);
      expect(told).toEqual(expect.arrayContaining(["Ready True", "DeploymentAvailable False"]));
      expect((await stage.get("Deployment", "main")).spec.replicas).toBe(0);
    });
    await stage.patch("ClusterTunnel", "main", { spec: { deployPatch: "spec:\n  replicas: 2\n" } });
    await eventually(async () => expect((await stage.get("Deployment", "main")).spec.replicas).toBe(2));
    const { spec } = await stage.get("Deployment", "main");
    expect(spec.template.spec.containers[0].args).toEqual([
      "tunnel",
      "--no-autoupdate",
      "--protocol",
      "auto",
      "--metrics",
      "0.0.0.0:2000",
      "run",
    ]);
    const secret = await stage.get("Secret", "main-token");
    const token = JSON.parse(
      Buffer.from(Buffer.from(secret.data.token, "base64").toString(), "base64").toString(),
    );
    expect(token.t).toBe(id);
    await stage.patch("ClusterTunnel", "main", { spec: { newTunnel: { name: "renamed" } } });
    await eventually(() => expect(stage.cloudflare.state.tunnels.get(id)?.fields.name).toBe("renamed"));
    await stage.remove("Secret", "main-token");
    await eventually(async () =>
      expect((await stage.find("Secret", "main-token"))?.data.token).toBe(secret.data.token),
    );
    await stage.remove("Deployment", "main");
    await eventually(async () => expect((await stage.find("Deployment", "main"))?.spec.replicas).toBe(2));
    await stage.patch("ClusterTunnel", "main", { spec: { deployPatch: "[" } });
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({ reason: "InvalidDeployPatch" }),
    );
    expect((await stage.get("ClusterTunnel", "main")).status).toMatchObject({ state: "error", tunnelId: id });
    expect((await stage.get("Deployment", "main")).spec.replicas).toBe(2);
    await stage.remove("ClusterTunnel", "main");
    await eventually(async () => expect(await stage.find("ClusterTunnel", "main")).toBeUndefined());
    expect(stage.cloudflare.state.tunnels.get(id)?.fields.deleted_at).not.toBeNull();
    await eventually(async () =>
      expect(await stage.find("ConfigMap", `tunnel-config-${id}`)).toBeUndefined(),
    );
    const all = JSON.stringify([await stage.events("main"), await stage.list("ConfigMap")]);
    expect(all).not.toContain(token.s);
  });

  it("tunnel-config A17 TUN-476 TUN-1007 TUN-1013 a record that cannot be deleted holds its object, and an Ingress is not held", async () => {
    const id = await createTunnel();
    stage.cloudflare.faults.add({ path: /dns_records/, method: /POST/, status: 500 });
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toHaveLength(2));
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", "a-a-example-com")).toMatchObject({ reason: "APIError" }),
    );
    stage.cloudflare.faults.clear();
    const records = () => stage.cloudflare.state.zones.get("test-zone-id")!.records.size;
    await stage.create("DNSRecord", "rec", {
      spec: { name: "rec.example.com", type: "A", content: "192.0.2.1" },
    });
    await eventually(() => expect(records()).toBe(2));
    stage.cloudflare.faults.add({ path: /dns_records/, method: /DELETE/, status: 500 });
    await eventually(async () => expect((await stage.get("DNSRecord", "rec")).status?.state).toBe("Active"));
    await stage.remove("DNSRecord", "rec");
    await stage.remove("Ingress", "a");
    await eventually(async () => expect(await stage.find("Ingress", "a")).toBeUndefined());
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", "rec")).toMatchObject({ status: "False", reason: "APIError" }),
    );
    stage.cloudflare.faults.clear();
    await eventually(async () =>
      expect([await stage.find("DNSRecord", "rec"), records()]).toEqual([undefined, 0]),
    );
  });

  it("TUN-615 TUN-616 TUN-617 what came of a transmission is told: a failure with its class, the version, and that somebody else wrote", async () => {
    const id = await createTunnel();
    const condition = async (type: string): Promise<Loose> =>
      (await stage.get("ClusterTunnel", "main")).status.conditions.find((one: Loose) => one.type === type);
    stage.cloudflare.faults.add({ path: /configurations/, method: /PUT/, status: 500 });
    await stage.ingress("a", "a.example.com", "one");
    await eventually(async () =>
      expect(await condition("ConfigSynced")).toMatchObject({ status: "False", reason: "APIError" }),
    );
    expect(stage.hosts(id)).toEqual([undefined]);
    stage.cloudflare.faults.clear();
    await eventually(async () => {
      expect(await condition("ConfigSynced")).toMatchObject({ status: "True", reason: "Synced" });
      const { configVersion, syncedHostnames } = (await stage.get("ClusterTunnel", "main")).status;
      const { version } = stage.cloudflare.state.tunnels.get(id)!;
      expect([configVersion, syncedHostnames]).toEqual([version, ["a.example.com"]]);
      expect((await stage.document(id))?.lastError).toBeUndefined();
    });
    const config = { ingress: [{ service: "http_status:503" }] };
    const body = JSON.stringify({ config });
    await fetch(`${stage.cloudflare.origin}/admin/configurations/${id}`, { method: "POST", body });
    await stage.ingress("b", "b.example.com", "two");
    await eventually(async () => {
      expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]);
      const told = (await stage.events("main")).map((text) => text.split(" ", 2).join(" "));
      for (const reason of ["Warning SyncFailed", "Normal Synced", "Warning DriftDetected"])
        expect(told).toContain(reason);
    });
  });

  it("TUN-104 TUN-109 TUN-108 credentials that are wrong are told, and work once they are mended", async () => {
    await stage.patch("Secret", "cf", {
      data: { CLOUDFLARE_API_TOKEN: Buffer.from("wrong").toString("base64") },
    });
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({
        status: "False",
        reason: "AuthError",
      }),
    );
    await eventually(async () =>
      expect((await stage.get("CloudflareCredentials", "main")).status).toMatchObject({
        state: "Error",
        validated: false,
      }),
    );
    await stage.patch("Secret", "cf", {
      data: { CLOUDFLARE_API_TOKEN: Buffer.from("test-token").toString("base64") },
    });
    await stage.activeTunnel("main");
    await eventually(async () =>
      expect((await stage.get("CloudflareCredentials", "main")).status).toMatchObject({
        state: "Ready",
        accountName: "Test Account",
      }),
    );
    await stage.patch("Secret", "cf", { data: { CLOUDFLARE_API_TOKEN: null } });
    await stage.patch("CloudflareCredentials", "main", { spec: { accountName: "again" } });
    await eventually(async () =>
      expect((await stage.ready("CloudflareCredentials", "main")).message).toBe(
        "API token not found in secret (key: CLOUDFLARE_API_TOKEN)",
      ),
    );
    await stage.patch("Secret", "cf", {
      data: { CLOUDFLARE_API_TOKEN: Buffer.from("test-token").toString("base64") },
    });
    await eventually(async () =>
      expect(await stage.ready("CloudflareCredentials", "main")).toMatchObject({ status: "True" }),
    );
  });

  it("TUN-319 TUN-616 a source that no ConfigMap holds is left out as a whole and told, and what was served is served on", async () => {
    const id = await createTunnel();
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    await eventually(async () => expect((await stage.document(id))?.syncStatus).toBe("Synced"));
    const backend = { service: { name: "web", port: { number: 80 } } };
    // Few and long: each stands in the document twice.
    const paths = Array.from({ length: 1_000 }, (_, index) => ({
      path: `/${"p".repeat(500)}${index}`,
      pathType: "Prefix",
      backend,
    }));
    const rules = [{ host: "many.example.com", http: { paths } }];
    const transmitted = stage.puts().length;
    await stage.create("Ingress", "many", { spec: { ingressClassName: "cloudflare", rules } });
    await eventually(async () => {
      const { conditions } = (await stage.get("ClusterTunnel", "main")).status;
      const told = conditions.map(({ type, status, reason }: Loose) => `${type} ${status} ${reason}`);
      expect(told).toContain("ConfigSynced True SyncedWithRejections");
      for (const name of ["main", "many"]) {
        expect(await stage.events(name)).toContainEqual(
          expect.stringMatching(/^Warning ConfigTooLarge .*spread the hosts over several tunnels$/),
        );
      }
    });
    expect(stage.puts().length).toBe(transmitted);
    expect([stage.hosts(id), Object.keys((await stage.document(id))!.sources)]).toEqual([
      ["a.example.com", undefined],
      ["ClusterTunnel/main", `Ingress/${stage.namespace}/a`],
    ]);
    await stage.remove("Ingress", "many");
    await eventually(async () => expect((await stage.document(id))?.rejected).toEqual([]));
    expect(stage.puts().length).toBe(transmitted);
  });
});
