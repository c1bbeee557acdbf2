/** What an object did not create stays, whatever becomes of its spec. */
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

const ADOPT = { metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } } };

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

const remote = (id: string): Loose => stage.cloudflare.state.tunnels.get(id)?.fields;
const calls = (path: RegExp): string[] =>
  stage.cloudflare.requests
    .filter((call) => call.method !== "GET" && path.test(call.path))
    .map(({ method }) => method);

/** A tunnel that was in the account before. */
async function tunnelThere(name: string, config?: object): Promise<string> {
  const { url, origin } = stage.cloudflare;
  const headers = { authorization: "Bearer test-token" };
  const body = JSON.stringify({ name, config_src: "cloudflare" });
  const place = `${url}/accounts/test-account-id/cfd_tunnel`;
  const answer = (await (await fetch(place, { method: "POST", headers, body })).json()) as Loose;
  const { id } = answer.result;
  const post = (path: string, sent: object) =>
    fetch(`${origin}/admin/${path}`, { method: "POST", body: JSON.stringify(sent) });
  if (config !== undefined) await post(`configurations/${id}`, { config });
  await post(`tunnels/${id}/status`, { status: "down" });
  return id;
}

async function condition(type: string): Promise<Loose> {
  const { status } = await stage.get("ClusterTunnel", "main");
  return (status?.conditions ?? []).find((one: Loose) => one.type === type);
}

async function removed(kind: string, name: string): Promise<void> {
  await stage.remove(kind, name);
  await eventually(async () => expect(await stage.find(kind, name)).toBeUndefined());
}

describe("a tunnel", () => {
  it("TUN-225 that was there before keeps its name and stays when the spec no longer calls it an existing one; it is served on", async () => {
    const id = await tunnelThere("theirs");
    await stage.create("ClusterTunnel", "main", { spec: { existingTunnel: { id } } });
    expect(await stage.activeTunnel("main")).toBe(id);
    const spec = { existingTunnel: null, newTunnel: { name: "ours" } };
    await stage.patch("ClusterTunnel", "main", { spec });
    await eventually(async () =>
      expect(await condition("Ready")).toMatchObject({ status: "False", reason: "ImmutableField" }),
    );
    expect((await condition("Ready")).message).toContain('cloudflare-operator.io/adopt: "true"');
    expect(await condition("Adopted")).toMatchObject({ status: "True", reason: "NotCreatedHere" });
    await stage.ingress("a", "a.example.com", "one");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    await stage.patch("ClusterTunnel", "main", { spec: { newTunnel: { name: "theirs" } } });
    await eventually(async () => expect(await condition("Ready")).toMatchObject({ status: "True" }));
    expect(await condition("Adopted")).toMatchObject({ status: "True" });
    await removed("ClusterTunnel", "main");
    expect(remote(id)).toMatchObject({ name: "theirs", deleted_at: null });
    expect(await stage.events("main")).toContainEqual(expect.stringMatching(/^Normal Kept /));
    expect(calls(/cfd_tunnel\/[^/]+$/)).toEqual([]);
  });

  it("TUN-225 TUN-214 that was taken over by its name stays too, until the annotation makes it the object's own", async () => {
    const id = await tunnelThere("main");
    const create = () => stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await create();
    expect(await stage.activeTunnel("main")).toBe(id);
    expect(await condition("Adopted")).toMatchObject({ status: "True" });
    await removed("ClusterTunnel", "main");
    expect(remote(id).deleted_at).toBeNull();

    await create();
    expect(await stage.activeTunnel("main")).toBe(id);
    await stage.patch("ClusterTunnel", "main", { ...ADOPT, spec: { newTunnel: { name: "ours" } } });
    await eventually(async () => {
      expect(remote(id).name).toBe("ours");
      expect(await condition("Adopted")).toMatchObject({ status: "False", reason: "Owned" });
      expect((await stage.get("ClusterTunnel", "main")).status.adopted).toBeUndefined();
    });
    await removed("ClusterTunnel", "main");
    expect(remote(id).deleted_at).not.toBeNull();
  });

  it("TUN-226 is not looked for in another account; nothing is changed in either", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await stage.activeTunnel("main");
    const secretRef = { name: "cf", namespace: stage.namespace };
    const spec = { accountId: "other-account", authType: "apiToken", secretRef };
    await stage.create("CloudflareCredentials", "other", { spec });
    const from = calls(/./).length;
    const use = (credentialsRef: object | null) =>
      stage.patch("ClusterTunnel", "main", { spec: { cloudflare: { credentialsRef } } });
    await use({ name: "other" });
    await eventually(async () =>
      expect(await condition("Ready")).toMatchObject({ status: "False", reason: "ImmutableField" }),
    );
    expect((await condition("Ready")).message).toContain("test-account-id");
    expect(calls(/./).slice(from)).toEqual([]);
    await use(null);
    await eventually(async () => expect(await condition("Ready")).toMatchObject({ status: "True" }));
    expect(remote(id).deleted_at).toBeNull();
  });

  it("TUN-627 a configuration of somebody else is kept before it is replaced, and outlives the object", async () => {
    const theirs = {
      ingress: [{ hostname: "old.example.com", service: "http://old:80" }, { service: "http_status:404" }],
    };
    const id = await tunnelThere("theirs", theirs);
    // What is killed between the two has the backup.
    stage.cloudflare.faults.add({ path: /configurations/, method: /PUT/, status: 500 });
    await stage.create("ClusterTunnel", "main", { spec: { existingTunnel: { id } } });
    const kept = async (): Promise<Loose[]> =>
      (await stage.list("ConfigMap")).filter(({ metadata }) =>
        metadata.name.startsWith(`tunnel-backup-${id}-`),
      );
    await eventually(async () => expect(await kept()).toHaveLength(1));
    expect(stage.remote(id)).toEqual(theirs);
    stage.cloudflare.faults.clear();
    await stage.activeTunnel("main");
    expect(stage.hosts(id)).toEqual([undefined]);
    await removed("ClusterTunnel", "main");
    await eventually(async () =>
      expect(await stage.find("ConfigMap", `tunnel-config-${id}`)).toBeUndefined(),
    );
    const [{ data, metadata }] = await kept();
    expect(JSON.parse(data["remote-backup.json"])).toEqual(theirs);
    await removed("ConfigMap", metadata.name);
  });
});

describe("backups", () => {
  it("TUN-627 of an account are so many and no more: then nothing is replaced until there is room", async () => {
    const theirs = {
      ingress: [{ hostname: "old.example.com", service: "http://old:80" }, { service: "http_status:404" }],
    };
    const labels = {
      "cloudflare-operator.io/type": "tunnel-config-backup",
      "cloudflare-operator.io/account-id": "test-account-id",
    };
    for (let n = 0; n < 20; n++) await stage.create("ConfigMap", `old-${n}`, { metadata: { labels } });
    const id = await tunnelThere("theirs", theirs);
    await stage.create("ClusterTunnel", "main", { spec: { existingTunnel: { id } } });
    await eventually(async () =>
      expect(JSON.stringify((await stage.get("ClusterTunnel", "main")).status)).toContain(
        "20 backups of tunnels of account test-account-id",
      ),
    );
    expect(stage.remote(id)).toEqual(theirs);
    await removed("ConfigMap", "old-0");
    await stage.patch("ClusterTunnel", "main", { spec: { enableWarpRouting: true } });
    await stage.activeTunnel("main");
    expect((await stage.list("ConfigMap")).map(({ metadata }) => metadata.name)).toContainEqual(
      expect.stringMatching(`^tunnel-backup-${id}-`),
    );
  });
});

describe("a record", () => {
  const records = (zone: string): Loose[] => [...stage.cloudflare.state.zones.get(zone)!.records.values()];

  it("TUN-913 that moves to another zone leaves none behind, and touches nothing where the former zone is out of reach", async () => {
    const spec = { name: "a.example.com", type: "A", content: "192.0.2.1" };
    await stage.create("DNSRecord", "a", { spec });
    await eventually(() => expect(records("test-zone-id")).toHaveLength(1));
    await eventually(async () =>
      expect((await stage.get("DNSRecord", "a")).status?.zoneId).toBe("test-zone-id"),
    );
    stage.cloudflare.faults.add({ path: /test-zone-id\/dns_records/, status: 403, code: 10000 });
    await stage.patch("DNSRecord", "a", { spec: { name: "a.test.com" } });
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", "a")).toMatchObject({ reason: "ImmutableField" }),
    );
    expect([records("test-zone-id").length, records("test-zone-id-2").length]).toEqual([1, 0]);
    stage.cloudflare.faults.clear();
    await stage.patch("DNSRecord", "a", { spec: { content: "192.0.2.2" } });
    await eventually(async () => {
      expect(await stage.ready("DNSRecord", "a")).toMatchObject({ status: "True" });
      expect(records("test-zone-id")).toEqual([]);
    });
    expect(records("test-zone-id-2")).toMatchObject([{ name: "a.test.com", content: "192.0.2.2" }]);
  });
});
