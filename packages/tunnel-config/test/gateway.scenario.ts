/** HTTPRoutes through Gateways, in clusters with and without the Gateway API. */
import { gatewayCrds, installCrds } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, openStage, shareStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;

async function createTunnel(): Promise<string> {
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  return stage.activeTunnel("main");
}

async function createGateway(listener: object = {}): Promise<void> {
  const { namespace } = stage;
  await stage.create("TunnelGatewayClassConfig", "gc", {
    spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" } },
  });
  await stage.create("GatewayClass", "cloudflare", {
    spec: {
      controllerName: "cloudflare-operator.io/gateway-controller",
      parametersRef: {
        group: "networking.cloudflare-operator.io",
        kind: "TunnelGatewayClassConfig",
        name: "gc",
        namespace,
      },
    },
  });
  await stage.create("Gateway", "gw", {
    spec: {
      gatewayClassName: "cloudflare",
      listeners: [{ name: "web", port: 80, protocol: "HTTP", hostname: "*.example.com", ...listener }],
    },
  });
}

const route = (host: string, rule: object): object => ({
  spec: { parentRefs: [{ name: "gw" }], hostnames: [host], rules: [rule] },
});
const to = (name: string): object => ({ backendRefs: [{ name, port: 80 }] });

async function parentOf(name: string): Promise<Record<string, string>> {
  const parents = (await stage.get("HTTPRoute", name)).status?.parents ?? [];
  const conditions: Loose[] = parents[0]?.conditions ?? [];
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

async function conditionsOf(kind: string, name: string): Promise<Record<string, string>> {
  const conditions: Loose[] = (await stage.get(kind, name)).status?.conditions ?? [];
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe("Gateway API", () => {
  const shared = shareStage(async (opened) => {
    await installCrds(opened.client, gatewayCrds());
    await opened.startManager();
  });
  beforeEach(() => {
    stage = shared.stage;
  });

  it("tunnel-config A15 TUN-520 TUN-527 TUN-528 TUN-530 TUN-531 TUN-532 routes are served, and their status says what is not", async () => {
    const id = await createTunnel();
    await stage.create("Service", "web", { spec: { ports: [{ port: 80 }] } });
    await createGateway();
    await stage.create("HTTPRoute", "good", route("r.example.com", to("web")));
    await stage.create("HTTPRoute", "broken", route("broken.example.com", to("absent")));
    const headers = [{ name: "x", value: "y" }];
    const matches = [{ headers }, { path: { value: "/api" } }];
    await stage.create("HTTPRoute", "partial", route("p.example.com", { ...to("web"), matches }));
    await stage.create("HTTPRoute", "outside", route("r.example.org", to("web")));
    await eventually(() =>
      expect(stage.hosts(id)).toEqual(["broken.example.com", "p.example.com", "r.example.com", undefined]),
    );
    const [broken, partial] = stage.remote(id).ingress;
    expect([broken.service, partial.path]).toEqual(["http_status:500", "^/api(/.*)?$"]);
    await eventually(async () => {
      expect(await parentOf("good")).toEqual({
        Accepted: "True Accepted",
        ResolvedRefs: "True ResolvedRefs",
      });
      expect(await parentOf("broken")).toMatchObject({ ResolvedRefs: "False BackendNotFound" });
      expect(await parentOf("partial")).toMatchObject({ PartiallyInvalid: "True UnsupportedValue" });
      expect(await parentOf("outside")).toMatchObject({ Accepted: "False NoMatchingListenerHostname" });
      expect(await conditionsOf("GatewayClass", "cloudflare")).toEqual({ Accepted: "True Accepted" });
      expect(await conditionsOf("Gateway", "gw")).toEqual({
        Accepted: "True Accepted",
        Programmed: "True Programmed",
      });
      const { status } = await stage.get("Gateway", "gw");
      expect(status.addresses).toEqual([{ type: "Hostname", value: `${id}.cfargotunnel.com` }]);
      expect(status.listeners[0].attachedRoutes).toBe(3);
      const { spec } = await stage.get("DNSRecord", "gw-r-example-com");
      expect([spec.name, spec.type]).toEqual(["r.example.com", "CNAME"]);
      expect((await stage.get("TunnelGatewayClassConfig", "gc")).status).toMatchObject({
        state: "active",
        gatewayCount: 1,
        routeCount: 3,
      });
    });

    await stage.remove("HTTPRoute", "good");
    await eventually(() =>
      expect(stage.hosts(id)).toEqual(["broken.example.com", "p.example.com", undefined]),
    );
    await eventually(async () => expect(await stage.find("DNSRecord", "gw-r-example-com")).toBeUndefined());
    await stage.remove("Gateway", "gw");
    await eventually(() => expect(stage.hosts(id)).toEqual([undefined]));
  });

  it("TUN-522 TUN-533 a route of another namespace is not taken, and the peer's finalizer holds nothing", async () => {
    const id = await createTunnel();
    await stage.create("Service", "web", { spec: { ports: [{ port: 80 }] } });
    await createGateway({
      allowedRoutes: { namespaces: { from: "Selector", selector: { matchLabels: { no: "yes" } } } },
    });
    await stage.patch("Gateway", "gw", {
      metadata: { finalizers: ["gateway.cloudflare-operator.io/finalizer"] },
    });
    await stage.create("HTTPRoute", "good", route("r.example.com", to("web")));
    await eventually(async () =>
      expect(await parentOf("good")).toMatchObject({ Accepted: "False NotAllowedByListeners" }),
    );
    expect(stage.hosts(id)).toEqual([undefined]);
    await stage.remove("Gateway", "gw");
    await eventually(async () => expect(await stage.find("Gateway", "gw")).toBeUndefined());
  });
});

describe("without the Gateway API", () => {
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.close());

  it("TUN-002 tunnels and Ingresses are served, and routes once their kinds are there", async () => {
    await withoutGatewayApi();
    await stage.startManager();
    const id = await createTunnel();
    await stage.ingress("a", "a.example.com", "web");
    await eventually(() => expect(stage.hosts(id)).toEqual(["a.example.com", undefined]));
    await installCrds(stage.client, gatewayCrds());
    await stage.create("Service", "web", { spec: { ports: [{ port: 80 }] } });
    await createGateway();
    await stage.create("HTTPRoute", "good", route("r.example.com", to("web")));
    await eventually(
      () => expect(stage.hosts(id)).toEqual(["a.example.com", "r.example.com", undefined]),
      90_000,
    );
  }, 150_000);
});

/** Takes the definitions away; on a server that scenarios share it is this one's turn. */
async function withoutGatewayApi(): Promise<void> {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const { metadata } of gatewayCrds()) {
    await stage.client.request("DELETE", `${definitions}/${metadata.name}`);
    await eventually(async () => {
      const { code } = await stage.client.request("GET", `${definitions}/${metadata.name}`);
      expect(code).toBe(404);
    });
  }
}
