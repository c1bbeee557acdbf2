import type { KubeObject, ReconcileContext } from "@quartet/core";
import { expect, it } from "vitest";
import type { DNSRecord } from "../api.gen.ts";
import { dnsObjects } from "../desired/dns-objects.ts";
import { INGRESS, TUNNEL_BINDING } from "../kinds.ts";
import { keepDnsRecords } from "./dns-children.ts";

type Owner = Parameters<typeof keepDnsRecords>[1];

/** A namespace whose DNSRecords are kept for several objects. */
function scene() {
  const stored = new Map<string, DNSRecord>();
  const told: string[] = [];
  const ctx = {
    cache: { list: async () => [...stored.values()] },
    client: {
      applyOwned: async (_: unknown, one: DNSRecord) => void stored.set(one.metadata.name ?? "", one),
      deleteIfExists: async (_: unknown, { name }: { name: string }) => stored.delete(name),
    },
    events: { record: (_: unknown, { reason }: { reason: string }) => void told.push(reason) },
  } as unknown as ReconcileContext;
  const tunnel = { kind: "ClusterTunnel", metadata: { name: "main" }, status: { tunnelId: "t" } } as never;
  const keep = async (kind: Owner["kind"], name: string, ...hosts: string[]): Promise<void> => {
    const metadata = { namespace: "a", name, uid: `${kind.kind} ${name}` };
    const object: KubeObject = { apiVersion: "v1", kind: kind.kind, metadata };
    const inputs = { namespace: "a", owner: name, labels: {}, hosts, tunnel, proxied: true };
    await keepDnsRecords(ctx, { kind, object }, dnsObjects(inputs));
  };
  const records = (): string[] =>
    [...stored.values()].map(
      ({ metadata, spec }) => `${metadata.ownerReferences?.map(({ uid }) => uid).join()}: ${spec.name}`,
    );
  return { stored, told, keep, records };
}
const [BINDING_KIND, INGRESS_KIND] = [TUNNEL_BINDING, INGRESS] as unknown as readonly [
  Owner["kind"],
  Owner["kind"],
];

it("TUN-473 TUN-1017 an Ingress with the name of a TunnelBinding has a record of its own before that goes, and keeps it", async () => {
  const { stored, told, keep, records } = scene();
  await keep(BINDING_KIND, "shop", "shop.example.com");
  await keep(INGRESS_KIND, "shop", "shop.example.com");
  expect(records()).toEqual(["TunnelBinding shop: shop.example.com", "Ingress shop: shop.example.com"]);
  await keep(BINDING_KIND, "shop");
  await keep(INGRESS_KIND, "shop", "shop.example.com");
  expect(records()).toEqual(["Ingress shop: shop.example.com"]);
  const names = [...stored.keys()];
  await keep(INGRESS_KIND, "shop", "shop.example.com");
  expect([...stored.keys()]).toEqual(names);
  await keep(INGRESS_KIND, "shop");
  expect([...stored.keys(), ...told]).toEqual([]);
});

it("TUN-473 two Ingresses whose names and hosts read the same both have their records", async () => {
  const { keep, records, told } = scene();
  await keep(INGRESS_KIND, "shop", "www.example.com");
  await keep(INGRESS_KIND, "shop-www", "example.com");
  expect(records()).toEqual(["Ingress shop: www.example.com", "Ingress shop-www: example.com"]);
  expect(told).toEqual([]);
});
