import { describe, expect, it } from "vitest";
import {
  contentsOf,
  gatewayAddresses,
  ingressAddresses,
  nodeAddresses,
  serviceAddresses,
  sourceOf,
} from "./dns-source.ts";

// biome-ignore lint/suspicious/noExplicitAny: parts of objects
type Loose = any;

const record = (sourceRef: Loose): Loose => ({ metadata: { namespace: "shop" }, spec: { sourceRef } });

describe("the object that a record follows", () => {
  it("TUN-926 is in the record's namespace unless it says otherwise; a Node is in none", () => {
    expect(sourceOf(record({ service: { name: "web" } }))).toEqual({
      kind: "Service",
      namespace: "shop",
      name: "web",
    });
    expect(sourceOf(record({ gateway: { name: "gw", namespace: "infra" } }))).toEqual({
      kind: "Gateway",
      namespace: "infra",
      name: "gw",
    });
    expect(sourceOf(record({ node: { name: "n1" } }))).toEqual({ kind: "Node", namespace: "", name: "n1" });
    expect(
      [record(undefined), record({ service: { name: "a" }, node: { name: "b" } })].map(sourceOf),
    ).toEqual([undefined, undefined]);
  });

  it("TUN-926 has its addresses where its kind has them", () => {
    const service: Loose = {
      spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"], externalIPs: ["198.51.100.7"] },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.example.net" }] } },
    };
    const types = [
      "LoadBalancerIP",
      "LoadBalancerHostname",
      "ExternalIP",
      "ExternalName",
      "ClusterIP",
    ] as const;
    expect(types.map((type) => serviceAddresses(service, type))).toEqual([
      ["192.0.2.1"],
      ["lb.example.net"],
      ["198.51.100.7"],
      [],
      ["10.0.0.1", "fd00::1"],
    ]);
    expect(serviceAddresses({ spec: { externalName: "a.net" } } as Loose, "ExternalName")).toEqual(["a.net"]);
    expect(serviceAddresses({ spec: { clusterIP: "None" } } as Loose, "ClusterIP")).toEqual([]);
    expect(ingressAddresses(service)).toEqual(["192.0.2.1", "lb.example.net"]);
    expect(gatewayAddresses({ status: { addresses: [{ value: "192.0.2.2" }] } } as Loose)).toEqual([
      "192.0.2.2",
    ]);
    const node: Loose = {
      status: {
        addresses: [
          { type: "InternalIP", address: "10.1.0.1" },
          { type: "ExternalIP", address: "203.0.113.1" },
        ],
      },
    };
    expect([nodeAddresses(node, "ExternalIP"), nodeAddresses(node, "Hostname")]).toEqual([
      ["203.0.113.1"],
      [],
    ]);
  });
});

describe("records of addresses", () => {
  const addresses = ["lb.example.net.", "2001:db8::1", "192.0.2.1", "192.0.2.2", "192.0.2.1"];
  const of = (spec: Loose = {}) =>
    contentsOf(addresses, spec).map(({ type, content }) => `${type} ${content}`);

  it("TUN-926 are the first, the preferred or all of them, each by its form", () => {
    expect(of()).toEqual(["CNAME lb.example.net"]);
    expect(of({ addressSelection: "PreferIPv4" })).toEqual(["A 192.0.2.1"]);
    expect(of({ addressSelection: "PreferIPv6" })).toEqual(["AAAA 2001:db8::1"]);
    expect(contentsOf(["lb.net"], { addressSelection: "PreferIPv4" } as Loose)).toMatchObject([
      { type: "CNAME" },
    ]);
    expect(contentsOf([], {} as Loose)).toEqual([]);
  });

  it("TUN-926 All leaves out a CNAME, which nothing can stand beside", () => {
    expect(of({ addressSelection: "All" })).toEqual(["AAAA 2001:db8::1", "A 192.0.2.1", "A 192.0.2.2"]);
    expect(contentsOf(["a.net", "b.net"], { addressSelection: "All" } as Loose)).toEqual([
      { type: "CNAME", content: "a.net" },
    ]);
  });

  it("TUN-926 are of the type that is asked for", () => {
    expect(of({ type: "A", addressSelection: "All" })).toEqual(["A 192.0.2.1", "A 192.0.2.2"]);
    expect(of({ type: "AAAA" })).toEqual(["AAAA 2001:db8::1"]);
    expect(contentsOf(["192.0.2.1"], { type: "CNAME" } as Loose)).toEqual([]);
    expect(contentsOf(["192.0.2.1"], { type: "TXT" } as Loose)).toEqual([
      { type: "TXT", content: "192.0.2.1" },
    ]);
  });
});
