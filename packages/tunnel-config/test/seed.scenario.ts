/** The scenarios that the tunnel controllers were asked for. */
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { shareStage, type TunnelStage } from "./support/stage.ts";

const LAST = { service: "http_status:404" };
const rule = (name: string, host = `${name}.example.com`) => ({
  hostname: host,
  service: `http://svc-${name}`,
});

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

/** Rules in the account, without the namespace in the addresses of their services. */
const rules = (tunnelId: string) =>
  (stage.remote(tunnelId)?.ingress ?? []).map((one: { service: string }) => ({
    ...one,
    service: one.service.replace(`.${stage.namespace}.svc:80`, ""),
  }));

async function tunnelId(name = "main"): Promise<string> {
  let id = "";
  await eventually(async () => {
    id = (await stage.get("ClusterTunnel", name)).status?.tunnelId ?? "";
    expect(id).not.toBe("");
  });
  return id;
}

describe("seed", () => {
  it("tunnel-config A1 S1 TUN-301 TUN-310 TUN-472 TUN-609 two Ingresses share one tunnel, and one going takes its own rule alone", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await Promise.all([
      stage.ingress("a", "a.example.com", "svc-a"),
      stage.ingress("b", "b.example.com", "svc-b"),
    ]);
    const id = await tunnelId();
    await eventually(() => expect(rules(id)).toEqual([rule("a"), rule("b"), LAST]));
    await eventually(async () => {
      const keys = Object.keys((await stage.document(id))?.sources ?? {});
      const { namespace } = stage;
      expect(keys).toEqual(["ClusterTunnel/main", `Ingress/${namespace}/a`, `Ingress/${namespace}/b`]);
    });
    await eventually(async () => {
      expect((await stage.get("ClusterTunnel", "main")).status.state).toBe("active");
      expect((await stage.get("Ingress", "a")).status.loadBalancer.ingress).toEqual([
        { hostname: `${id}.cfargotunnel.com` },
      ]);
    });
    const before = stage.puts().length;
    await stage.remove("Ingress", "a");
    await eventually(() => expect(rules(id)).toEqual([rule("b"), LAST]));
    await eventually(async () => {
      expect(Object.keys((await stage.document(id))?.sources ?? {})).toEqual([
        "ClusterTunnel/main",
        `Ingress/${stage.namespace}/b`,
      ]);
    });
    const since = stage.puts().slice(before);
    expect(
      since.every(({ ingress }) =>
        ingress.some((one: { hostname?: string }) => one.hostname === "b.example.com"),
      ),
    ).toBe(true);
    await stage.patch("Ingress", "b", { spec: { ingressClassName: "another" } });
    await eventually(() => expect(rules(id)).toEqual([LAST]));
    await eventually(async () =>
      expect((await stage.get("Ingress", "b")).status.loadBalancer?.ingress ?? []).toEqual([]),
    );
  });

  it("tunnel-config A2 S2 TUN-210 TUN-220 TUN-222 TUN-309 TUN-311 TUN-401 WARP routing and an Ingress come out as one configuration, and go one by one", async () => {
    const { id } = await existingTunnel("main");
    const spec = { existingTunnel: { id }, enableWarpRouting: true };
    await stage.create("ClusterTunnel", "main", { spec });
    await stage.ingress("api", "api.example.com", "svc-api");
    const warp = () => stage.remote(id)?.["warp-routing"]?.enabled;
    await eventually(() => expect([rules(id), warp()]).toEqual([[rule("api"), LAST], true]));
    await stage.patch("ClusterTunnel", "main", { spec: { enableWarpRouting: false } });
    await eventually(() => expect([rules(id), warp()]).toEqual([[rule("api"), LAST], false]));
    await stage.patch("ClusterTunnel", "main", { spec: { enableWarpRouting: true } });
    await eventually(() => expect(warp()).toBe(true));

    // Nobody but who has made a tunnel knows its secret; its token is enough.
    await eventually(async () => expect(await stage.find("Secret", "main-token")).toBeDefined());
    expect(await stage.find("Secret", "main")).toBeUndefined();
    await stage.remove("ClusterTunnel", "main");
    await eventually(async () => expect(await stage.find("ClusterTunnel", "main")).toBeUndefined());
    await eventually(() => expect([rules(id), warp()]).toEqual([[rule("api"), LAST], false]));
    const config = await stage.get("ConfigMap", `tunnel-config-${id}`);
    expect(config.metadata.ownerReferences).toBeUndefined();
    const address = [{ hostname: `${id}.cfargotunnel.com` }];
    expect((await stage.get("Ingress", "api")).status.loadBalancer.ingress).toEqual(address);
    await eventually(async () =>
      expect(await stage.events("api")).toContainEqual(expect.stringContaining("Warning TunnelNotReady")),
    );
    expect(stage.cloudflare.state.tunnels.get(id)?.fields.deleted_at).toBeNull();

    await stage.remove("Ingress", "api");
    await eventually(() => expect(rules(id)).toEqual([LAST]));
    await eventually(async () =>
      expect(await stage.find("ConfigMap", `tunnel-config-${id}`)).toBeUndefined(),
    );
  });

  it("tunnel-config A3 S3 TUN-801 TUN-806 TUN-909 TUN-924 a DNS record of somebody else is neither changed nor taken", async () => {
    const { namespace } = stage;
    const spec = { name: "api.example.com", type: "A", content: "192.0.2.1" };
    await stage.create("DNSRecord", "api-record", { spec });
    const records = () => [...stage.cloudflare.state.zones.get("test-zone-id")!.records.values()];
    const own = `DNSRecord/${namespace}/api-record`;
    await eventually(() => expect(records()).toMatchObject([{ ...spec, comment: `[managed-by:${own}]` }]));
    const ready = async (name: string) => {
      const { conditions = [], state } = (await stage.get("DNSRecord", name)).status ?? {};
      const { status, reason, message } =
        conditions.find(({ type }: { type: string }) => type === "Ready") ?? {};
      return { status, reason, message, state };
    };
    await eventually(async () =>
      expect(await ready("api-record")).toMatchObject({ status: "True", state: "Active" }),
    );

    await stage.create("DNSRecord", "second", { spec: { ...spec, content: "192.0.2.2" } });
    const refused = {
      status: "False",
      reason: "AdoptionConflict",
      message: `record managed by ${own}`,
      state: "Conflict",
    };
    await eventually(async () => expect(await ready("second")).toEqual(refused));
    expect(records()).toHaveLength(1);

    const free = {
      id: "unmarked",
      name: "free.example.com",
      type: "A",
      content: "203.0.113.1",
      comment: null,
      tags: [],
      ttl: 1,
    };
    stage.cloudflare.state.zones.get("test-zone-id")!.records.set("unmarked", free);
    await stage.create("DNSRecord", "free", { spec: { ...spec, name: "free.example.com" } });
    await eventually(async () =>
      expect((await ready("free")).message).toContain("exists and is not managed by this resource"),
    );
    expect(records().find(({ id }) => id === "unmarked")).toMatchObject({
      content: "203.0.113.1",
      comment: null,
    });
    await stage.patch("DNSRecord", "free", {
      metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } },
    });
    await eventually(async () => expect(await ready("free")).toMatchObject({ status: "True" }));
    expect(records().find(({ id }) => id === "unmarked")).toMatchObject({
      content: "192.0.2.1",
      comment: `[managed-by:DNSRecord/${namespace}/free]`,
    });

    await stage.remove("DNSRecord", "api-record");
    await eventually(async () =>
      expect(await ready("second")).toMatchObject({ status: "True", state: "Active" }),
    );
    const left = records().filter(({ name }) => name === "api.example.com");
    expect(left).toMatchObject([
      { content: "192.0.2.2", comment: `[managed-by:DNSRecord/${namespace}/second]` },
    ]);
  });
});

/** A tunnel that was in the account before. */
async function existingTunnel(name: string): Promise<{ id: string }> {
  const headers = { authorization: "Bearer test-token" };
  const body = JSON.stringify({ name, config_src: "cloudflare" });
  const url = `${stage.cloudflare.url}/accounts/test-account-id/cfd_tunnel`;
  const answer = (await (await fetch(url, { method: "POST", headers, body })).json()) as {
    result: { id: string };
  };
  return answer.result;
}
