import { describe, expect, it } from "vitest";
import type { Gateway, HttpRoute, Listener, ParentRef } from "../../gateway-kinds.ts";
import { attachmentsOf } from "./attach.ts";

const listener = (rest: Partial<Listener> = {}): Listener => ({
  name: "web",
  port: 80,
  protocol: "HTTP",
  ...rest,
});

function attach(listeners: Listener[], ref: Partial<ParentRef> = {}, namespace = "a", hostnames?: string[]) {
  const gateway: Gateway = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "gw", namespace: "a" },
    spec: { gatewayClassName: "c", listeners },
  };
  const route: HttpRoute = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "r", namespace },
    spec: { parentRefs: [{ name: "gw", namespace: "a", ...ref }], ...(hostnames && { hostnames }) },
  };
  const [one] = attachmentsOf(route, {
    gateway: (space, name) => (`${space}/${name}` === "a/gw" ? gateway : undefined),
    namespaceLabels: (name) => ({ team: name }),
  });
  return one === undefined
    ? undefined
    : (one.refusal?.reason ?? { listeners: one.listeners, hosts: one.hosts });
}

describe("attachment of a route", () => {
  it("TUN-521 is to the listeners of the name and port of the reference", () => {
    const both = [listener(), listener({ name: "alt", port: 8080 })];
    expect(attach(both)).toMatchObject({ listeners: ["web", "alt"] });
    expect(attach(both, { sectionName: "alt" })).toMatchObject({ listeners: ["alt"] });
    expect(attach(both, { port: 80 })).toMatchObject({ listeners: ["web"] });
    expect(attach(both, { sectionName: "none" })).toBe("NoMatchingParent");
    expect(attach(both, { kind: "Service", group: "" })).toBeUndefined();
  });

  it.each<[string, Listener["allowedRoutes"], string, boolean]>([
    ["none given, same namespace", undefined, "a", true],
    ["none given, another namespace", undefined, "b", false],
    ["All", { namespaces: { from: "All" } }, "b", true],
    [
      "a fitting selector",
      { namespaces: { from: "Selector", selector: { matchLabels: { team: "b" } } } },
      "b",
      true,
    ],
    [
      "another selector",
      { namespaces: { from: "Selector", selector: { matchLabels: { team: "c" } } } },
      "b",
      false,
    ],
    [
      "an expression",
      {
        namespaces: {
          from: "Selector",
          selector: { matchExpressions: [{ key: "team", operator: "NotIn", values: ["b"] }] },
        },
      },
      "b",
      false,
    ],
    ["kinds without HTTPRoute", { kinds: [{ kind: "TCPRoute" }] }, "a", false],
  ])(
    "TUN-522 goes by the namespaces and kinds that a listener takes: %s",
    (_name, allowedRoutes, namespace, taken) => {
      const found = attach([listener(allowedRoutes && { allowedRoutes })], {}, namespace);
      expect(found).toEqual(taken ? { listeners: ["web"], hosts: [""] } : "NotAllowedByListeners");
    },
  );

  it("TUN-522 TUN-523 needs a protocol that a tunnel serves, and a host in common", () => {
    expect(attach([listener({ protocol: "TCP" })])).toBe("NotAllowedByListeners");
    const wild = [listener({ hostname: "*.example.com" })];
    expect(attach(wild, {}, "a", ["r.example.com", "r.example.org"])).toMatchObject({
      hosts: ["r.example.com"],
    });
    expect(attach(wild, {}, "a", ["r.example.org"])).toBe("NoMatchingListenerHostname");
  });
});
