/** Virtual networks and routes. */
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { RESOURCES } from "./support/resources.ts";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

const ACCOUNT = "/accounts/test-account-id/teamnet";
const ROUTE = RESOURCES.find(({ kind }) => kind === "NetworkRoute")!;

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

const condition = async (kind: string, name: string): Promise<Loose> =>
  ((await stage.get(kind, name)).status?.conditions ?? []).find(({ type }: Loose) => type === "Ready") ?? {};
const isReady = (kind: string, name: string) =>
  eventually(async () => expect(await condition(kind, name)).toMatchObject({ status: "True" }));
const networks = (): Loose[] => [...stage.cloudflare.state.lists.networks.values()];
const routes = (): Loose[] =>
  [...stage.cloudflare.state.lists.routes.values()].filter((one) => !one.deleted_at);

describe("virtual networks", () => {
  it("TUN-930 of two that want to be the default the older is it, and one that does not ask leaves the default alone", async () => {
    await stage.create("VirtualNetwork", "first", { spec: { isDefaultNetwork: true } });
    await isReady("VirtualNetwork", "first");
    await stage.create("VirtualNetwork", "second", { spec: { isDefaultNetwork: true } });
    await isReady("VirtualNetwork", "second");
    const defaults = () => networks().filter((one) => one.is_default_network && !one.deleted_at);
    expect(defaults().map(({ name }) => name)).toEqual(["first"]);
    expect((await stage.get("VirtualNetwork", "second")).status.isDefault).toBe(false);
    await stage.patch("VirtualNetwork", "first", { spec: { isDefaultNetwork: false } });
    await eventually(() => expect(defaults().map(({ name }) => name)).toEqual(["second"]));
  });

  it("TUN-910 TUN-930 a new name changes the network in place; one that has routes goes after them", async () => {
    await ROUTE.before?.(stage);
    await stage.create("VirtualNetwork", "office", { spec: {} });
    await stage.create("NetworkRoute", "lan", {
      spec: { ...ROUTE.spec("one"), virtualNetworkRef: { name: "office" } },
    });
    await isReady("NetworkRoute", "lan");
    const { virtualNetworkId: id } = (await stage.get("VirtualNetwork", "office")).status;
    expect(routes()).toMatchObject([{ virtual_network_id: id }]);
    await stage.patch("VirtualNetwork", "office", { spec: { name: "renamed" } });
    await eventually(() => expect(networks().find((one) => one.id === id)?.name).toBe("renamed"));
    await stage.remove("VirtualNetwork", "office");
    await eventually(async () =>
      expect(await condition("VirtualNetwork", "office")).toMatchObject({ status: "False", reason: "InUse" }),
    );
    await stage.remove("NetworkRoute", "lan");
    await eventually(async () => expect(await stage.find("VirtualNetwork", "office")).toBeUndefined());
    expect(networks().find((one) => one.id === id)?.deleted_at).toEqual(expect.any(String));
  });

  it("TUN-910 TUN-806 a new name that somebody else's network has is refused, and nothing is changed", async () => {
    await stage.create("VirtualNetwork", "office", { spec: {} });
    await isReady("VirtualNetwork", "office");
    RESOURCES[0]!.foreign(stage, "taken", "[managed-by:VirtualNetwork/theirs]");
    await stage.patch("VirtualNetwork", "office", { spec: { name: "taken" } });
    await eventually(async () =>
      expect((await condition("VirtualNetwork", "office")).message).toContain(
        "virtual network managed by VirtualNetwork/theirs",
      ),
    );
    expect(networks().map(({ name }) => name)).toEqual(expect.arrayContaining(["office", "taken"]));
  });

  it("D1 TUN-811 TUN-812 the marker of another operator for the same object is rewritten, with its text", async () => {
    const network = RESOURCES[0]!.foreign(stage, "office", "[managed:VirtualNetwork/office] hq");
    await stage.create("VirtualNetwork", "office", { spec: {} });
    await isReady("VirtualNetwork", "office");
    expect(networks().find(({ id }) => id === network.id)?.comment).toBe(
      "[managed-by:VirtualNetwork/office] hq",
    );
  });

  it("TUN-004 TUN-909 TUN-1013 a paused object changes nothing; Orphan and force-delete leave the network", async () => {
    const annotations = { "cloudflare-operator.io/pause": "true" };
    const from = stage.cloudflare.requests.length;
    await stage.create("VirtualNetwork", "office", { metadata: { annotations }, spec: { comment: "hq" } });
    await eventually(async () =>
      expect(await condition("VirtualNetwork", "office")).toMatchObject({ reason: "Paused" }),
    );
    expect(stage.cloudflare.requests.slice(from).filter(({ path }) => path.startsWith(ACCOUNT))).toEqual([]);
    const change = {
      "cloudflare-operator.io/pause": null,
      "cloudflare-operator.io/deletion-policy": "Orphan",
    };
    await stage.patch("VirtualNetwork", "office", { metadata: { annotations: change } });
    await isReady("VirtualNetwork", "office");
    await stage.remove("VirtualNetwork", "office");
    await eventually(async () => expect(await stage.find("VirtualNetwork", "office")).toBeUndefined());
    expect(networks().find(({ name }) => name === "office")).toMatchObject({
      comment: "hq",
      deleted_at: null,
    });
  });
});

describe("routes", () => {
  it("TUN-218 TUN-931 TUN-933 waits for its tunnel and network, by watches; what is no network is refused with its canonical form", async () => {
    const spec = { ...ROUTE.spec("one"), virtualNetworkRef: { name: "office" } };
    await stage.create("NetworkRoute", "lan", { spec });
    await stage.create("NetworkRoute", "bits", { spec: { ...spec, network: "10.0.0.5/24" } });
    await stage.create("NetworkRoute", "bad", { spec: { ...spec, network: "10.300.0.5/24" } });
    const told = async (name: string) => {
      const { reason, message } = await condition("NetworkRoute", name);
      return `${reason} ${message}`;
    };
    await eventually(async () => {
      expect(await told("lan")).toContain("DependencyError spec.tunnelRef: there is no ClusterTunnel main");
      expect(await told("bits")).toMatch(/InvalidSpec .*write 10.0.0.0\/24/);
      expect(await told("bad")).toMatch(/InvalidSpec .*no network in CIDR notation/);
    });
    await ROUTE.before?.(stage);
    await eventually(async () => expect(await told("lan")).toContain("there is no VirtualNetwork office"));
    await stage.create("VirtualNetwork", "office", { spec: {} });
    await isReady("NetworkRoute", "lan");
    await eventually(async () =>
      expect(await stage.events("lan")).toContainEqual(expect.stringContaining("WarpRoutingDisabled")),
    );
    await stage.remove("ClusterTunnel", "main");
    await stage.remove("NetworkRoute", "lan");
    await eventually(async () => {
      expect(await stage.find("NetworkRoute", "lan")).toBeUndefined();
      expect(await stage.find("ClusterTunnel", "main")).toBeUndefined();
    });
    expect(routes()).toEqual([]);
  });

  it("TUN-932 follows its tunnel to another identifier and another network in place, and refers by name in the account", async () => {
    await ROUTE.before?.(stage);
    await stage.create("NetworkRoute", "lan", { spec: ROUTE.spec("one") });
    await isReady("NetworkRoute", "lan");
    const [{ id, virtual_network_id: standard }] = routes() as [Loose];
    const other = RESOURCES[0]!.foreign(stage, "plain", "");
    const change = { network: "fd00:0::/64", virtualNetworkRef: { cloudflareName: "plain" } };
    await stage.patch("NetworkRoute", "lan", { spec: change });
    await eventually(() =>
      expect(routes()).toMatchObject([{ id, network: "fd00::/64", virtual_network_id: other.id }]),
    );
    await stage.patch("NetworkRoute", "lan", { spec: { virtualNetworkRef: null } });
    await eventually(() => expect(routes()).toMatchObject([{ id, virtual_network_id: standard }]));
    const [tunnel] = stage.cloudflare.state.tunnels.values();
    const fields = { ...tunnel!.fields, id: "5d3bb0a7-9f43-4b5c-8d39-6c1d7b3fe001" };
    stage.cloudflare.state.tunnels.set(fields.id, { ...tunnel!, fields });
    await stage.patch("ClusterTunnel", "main", { status: { tunnelId: fields.id } }, "status");
    await eventually(() => expect(routes()).toMatchObject([{ id, tunnel_id: fields.id }]));
  });

  it("TUN-902 D1 a route that another operator has left without its identifier is found, kept and deleted", async () => {
    await ROUTE.before?.(stage);
    const route = ROUTE.foreign(stage, "one", "[managed:NetworkRoute/lan] one");
    const pause = { "cloudflare-operator.io/pause": "true" };
    await stage.create("NetworkRoute", "lan", {
      metadata: { annotations: pause },
      spec: { ...ROUTE.spec("one"), comment: "two" },
    });
    await eventually(async () =>
      expect(await condition("NetworkRoute", "lan")).toMatchObject({ reason: "Paused" }),
    );
    const status = { network: route.network, virtualNetworkId: route.virtual_network_id, state: "active" };
    await stage.patch("NetworkRoute", "lan", { status }, "status");
    await stage.patch("NetworkRoute", "lan", {
      metadata: { annotations: { "cloudflare-operator.io/pause": null } },
    });
    await isReady("NetworkRoute", "lan");
    expect(routes()).toMatchObject([{ id: route.id, comment: "[managed-by:NetworkRoute/lan] two" }]);
    await stage.remove("NetworkRoute", "lan");
    await eventually(() => expect(routes()).toEqual([]));
  });
});
