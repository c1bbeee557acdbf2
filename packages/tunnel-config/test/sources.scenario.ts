/** DNSRecords that follow another object. */
import { addNode, gatewayCrds, installCrds, OWN_NODE_TAINT, removeNode } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

const shared = shareStage(async (opened) => {
  await installCrds(opened.client, gatewayCrds());
  await opened.startManager();
});
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

const records = (): Loose[] => [...stage.cloudflare.state.zones.get("test-zone-id")!.records.values()];
const told = (): string[] => records().map(({ name, type, content }) => `${name} ${type} ${content}`);
const status = async (name: string): Promise<Loose> => (await stage.get("DNSRecord", name)).status ?? {};
const ready = async (name: string): Promise<Loose> =>
  ((await status(name)).conditions ?? []).find(({ type }: Loose) => type === "Ready") ?? {};

async function balancer(name: string, ...ips: string[]): Promise<void> {
  const ports = [{ port: 80 }];
  await stage.create("Service", name, { spec: { type: "LoadBalancer", ports, selector: { app: name } } });
  if (ips.length > 0) await addressed(name, ...ips);
}

async function addressed(name: string, ...ips: string[]): Promise<void> {
  const ingress = ips.map((ip) => ({ ip }));
  await stage.patch("Service", name, { status: { loadBalancer: { ingress } } }, "status");
}

describe("the address of a Service", () => {
  it("TUN-926 is awaited, then followed: one record for each address, none too many", async () => {
    await balancer("web");
    await stage.create("DNSRecord", "web", {
      spec: { name: "web.example.com", sourceRef: { service: { name: "web" } }, addressSelection: "All" },
    });
    await eventually(async () =>
      expect(await ready("web")).toMatchObject({ status: "False", reason: "NoAddress" }),
    );
    await addressed("web", "192.0.2.1");
    await eventually(() => expect(told()).toEqual(["web.example.com A 192.0.2.1"]));
    const [{ id }] = records();
    await addressed("web", "192.0.2.2", "2001:db8::1");
    await eventually(() =>
      expect(told().sort()).toEqual(["web.example.com A 192.0.2.2", "web.example.com AAAA 2001:db8::1"]),
    );
    await eventually(async () =>
      expect(await status("web")).toMatchObject({
        state: "Active",
        recordId: id,
        resolvedType: "A",
        resolvedContent: "192.0.2.2",
        resolvedAddresses: ["192.0.2.2", "2001:db8::1"],
        managedRecordIds: [id, expect.any(String)],
      }),
    );
    await stage.patch("DNSRecord", "web", { spec: { addressSelection: "PreferIPv6" } });
    await eventually(() => expect(told()).toEqual(["web.example.com AAAA 2001:db8::1"]));
    await stage.remove("DNSRecord", "web");
    await eventually(async () => expect(await stage.find("DNSRecord", "web")).toBeUndefined());
    expect(records()).toEqual([]);
  });

  it("TUN-927 is gone with the Service, and so is the record, unless it is to stay", async () => {
    await balancer("web", "192.0.2.1");
    const sourceRef = { service: { name: "web" } };
    await stage.create("DNSRecord", "gone", { spec: { name: "gone.example.com", sourceRef } });
    await stage.create("DNSRecord", "kept", {
      spec: { name: "kept.example.com", sourceRef, sourceDeletionPolicy: "Orphan" },
    });
    await eventually(async () => {
      expect((await status("gone")).state).toBe("Active");
      expect((await status("kept")).state).toBe("Active");
    });
    await stage.remove("Service", "web");
    await eventually(async () => {
      expect(await status("gone")).toMatchObject({ state: "SourceMissing" });
      expect(await status("gone")).not.toHaveProperty("recordId");
      expect(await ready("gone")).toMatchObject({ status: "False", reason: "SourceMissing" });
      expect(await status("kept")).toMatchObject({ state: "Orphaned" });
      expect(await ready("kept")).toMatchObject({ status: "True", reason: "SourceDeleted" });
    });
    expect(told()).toEqual(["kept.example.com A 192.0.2.1"]);
    await balancer("web", "192.0.2.7");
    await eventually(() =>
      expect(told().sort()).toEqual(["gone.example.com A 192.0.2.7", "kept.example.com A 192.0.2.7"]),
    );
    await eventually(async () => expect((await status("gone")).state).toBe("Active"));
  });
});

describe("other sources", () => {
  it("TUN-926 are Ingresses, Gateways, what a route is attached to, and Nodes", async () => {
    const { client, namespace } = stage;
    const node = `node-${namespace}`;
    stage.onClose(() => removeNode(client, node));
    await addNode(client, node, { taints: [OWN_NODE_TAINT] });
    const addresses = [{ type: "ExternalIP", address: "203.0.113.1" }];
    const merge = { contentType: "application/merge-patch+json" };
    await client.ok("PATCH", `/api/v1/nodes/${node}/status`, { status: { addresses } }, merge);
    await stage.ingress("shop", "shop.example.com", "shop");
    await stage.patch("Ingress", "shop", { spec: { ingressClassName: "another" } });
    const hostname = [{ hostname: "lb.example.net" }];
    await stage.patch("Ingress", "shop", { status: { loadBalancer: { ingress: hostname } } }, "status");
    await stage.create("Gateway", "gw", {
      spec: { gatewayClassName: "another", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
    });
    await stage.patch("Gateway", "gw", { status: { addresses: [{ value: "192.0.2.3" }] } }, "status");
    await stage.create("HTTPRoute", "route", { spec: { parentRefs: [{ name: "gw" }] } });
    const sources = {
      ingress: { name: "shop" },
      gateway: { name: "gw" },
      httpRoute: { name: "route" },
      node: { name: node },
    };
    for (const [kind, source] of Object.entries(sources)) {
      const name = `from-${kind.toLowerCase()}`;
      await stage.create("DNSRecord", name, {
        spec: { name: `${name}.example.com`, sourceRef: { [kind]: source } },
      });
    }
    await eventually(() =>
      expect(told().sort()).toEqual([
        "from-gateway.example.com A 192.0.2.3",
        "from-httproute.example.com A 192.0.2.3",
        "from-ingress.example.com CNAME lb.example.net",
        "from-node.example.com A 203.0.113.1",
      ]),
    );
    await stage.patch("Gateway", "gw", { status: { addresses: [{ value: "192.0.2.4" }] } }, "status");
    await eventually(() =>
      expect(told()).toEqual(
        expect.arrayContaining([
          "from-gateway.example.com A 192.0.2.4",
          "from-httproute.example.com A 192.0.2.4",
        ]),
      ),
    );
  });
});
