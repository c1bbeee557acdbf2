import type { Service } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import type { TunnelBinding } from "../../kinds.ts";
import { bindingRef, bindingSource, leavesDns } from "./binding.ts";

type Subject = NonNullable<TunnelBinding["subjects"]>[number];

function binding(subjects: Subject[], more: object = {}): TunnelBinding {
  const metadata = { name: "b", namespace: "shop", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z" };
  const tunnelRef = { kind: "ClusterTunnel" as const, name: "main" };
  return { apiVersion: "v1alpha1", kind: "TunnelBinding", metadata, subjects, tunnelRef, ...more } as never;
}

const service = (name: string, port: number, protocol = "TCP"): Service =>
  ({ metadata: { name, namespace: "shop" }, spec: { ports: [{ port, protocol }, { port: 9999 }] } }) as never;

function contribution(subjects: Subject[], services: Service[] = [], domain?: string) {
  const found = (namespace: string, name: string) =>
    services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return bindingSource(binding(subjects), { domain, service: found });
}

const at = (spec: Subject["spec"], name = "web"): Subject => ({ name, ...(spec && { spec }) });
const rulesOf = (...args: Parameters<typeof contribution>) => contribution(...args).source.rules ?? [];

describe("rules of a TunnelBinding", () => {
  it("TUN-411 TUN-417 come one for each subject, in their order, with the path as it is", () => {
    const { source, services } = contribution([
      at({ fqdn: "A.example.com.", target: "http://one:1", path: "/b" }),
      at({ fqdn: "a.example.com", target: "http://two:1", path: "/a" }),
      at({ fqdn: "a.example.com", target: "http://three:1" }),
    ]);
    expect(source).toMatchObject({ kind: "TunnelBinding", namespace: "shop", name: "b", priority: 50 });
    expect(source.rules).toEqual([
      { hostname: "a.example.com", service: "http://one:1", path: "/b", pathKind: "Regex", priority: 50 },
      { hostname: "a.example.com", service: "http://two:1", path: "/a", pathKind: "Regex", priority: 50 },
      { hostname: "a.example.com", service: "http://three:1", priority: 50 },
    ]);
    expect(services[0]).toEqual({ hostname: "a.example.com", target: "http://one:1" });
  });

  it("TUN-412 have the name of the subject in the tunnel's domain where no host is named; without both there is none", () => {
    const target = "http://x:1";
    const subjects = [at({ target }), at({ target, fqdn: "" }, "empty"), at({ target, fqdn: "a.b" })];
    const hosts = (domain?: string) => rulesOf(subjects, [], domain).map(({ hostname }) => hostname);
    expect(hosts("example.com")).toEqual(["web.example.com", "empty.example.com", "a.b"]);
    expect(hosts()).toEqual(["a.b"]);
    expect(contribution(subjects).notices.map(({ message }) => message)).toEqual([
      "subject web: no fqdn and no domain",
      "subject empty: no fqdn and no domain",
    ]);
  });

  it("TUN-413 TUN-414 TUN-415 lead to the target, else to the first port by the protocol that it stands for", () => {
    const service1 = (spec: Subject["spec"], port: number, protocol?: string) =>
      rulesOf([at({ fqdn: "a.b", ...spec })], [service("web", port, protocol)])[0]?.service;
    expect(service1({ target: "unix:/x" }, 80)).toBe("unix:/x");
    const usual = [80, 443, 22, 3389, 139, 445, 8080].map((port) => service1({}, port));
    expect(usual).toEqual([
      "http://web.shop.svc:80",
      "https://web.shop.svc:443",
      "ssh://web.shop.svc:22",
      "rdp://web.shop.svc:3389",
      "smb://web.shop.svc:139",
      "smb://web.shop.svc:445",
      "http://web.shop.svc:8080",
    ]);
    expect(service1({}, 53, "UDP")).toBe("udp://web.shop.svc:53");
    expect(service1({ protocol: "tcp" }, 443)).toBe("tcp://web.shop.svc:443");
    const { source, notices } = contribution(
      [at({ fqdn: "a.b", protocol: "gopher" }), at({ fqdn: "c.d" }, "missing")],
      [service("web", 443)],
    );
    expect(source.rules?.map((rule) => rule.service)).toEqual([
      "https://web.shop.svc:443",
      "http_status:404",
    ]);
    expect(notices.map(({ reason }) => reason)).toEqual(["ErrBuildConfig", "FailedService"]);
  });

  it("TUN-416 carry options that say something, and none of the peer's defaults", () => {
    const target = "https://x:1";
    const options = (spec: Subject["spec"]) =>
      rulesOf([at({ fqdn: "a.b", target, ...spec })])[0]?.originRequest;
    const defaults = {
      noTlsVerify: false,
      http2Origin: false,
      proxyAddress: "127.0.0.1",
      proxyPort: 0,
      proxyType: "" as const,
    };
    expect(options(defaults)).toBeUndefined();
    expect(
      options({
        noTlsVerify: true,
        http2Origin: true,
        proxyAddress: "::1",
        proxyPort: 1080,
        proxyType: "socks",
        caPool: "ca.crt",
      }),
    ).toEqual({
      noTLSVerify: true,
      http2Origin: true,
      proxyAddress: "::1",
      proxyPort: 1080,
      proxyType: "socks",
      caPool: "/etc/cloudflared/certs/ca.crt",
    });
  });
});

it("D19 TUN-418 a binding is read wherever its fields stand, those of the object itself first; a Tunnel is one of its namespace", () => {
  const below = { tunnelRef: { kind: "Tunnel", name: "own", disableDNSUpdates: true }, subjects: [at({})] };
  const inSpec = binding([], { subjects: undefined, tunnelRef: undefined, spec: below });
  expect(bindingRef(inSpec)).toEqual({ kind: "Tunnel", namespace: "shop", name: "own" });
  expect(leavesDns(inSpec)).toBe(true);
  const both = binding([], { spec: below });
  expect(bindingRef(both)).toEqual({ kind: "ClusterTunnel", namespace: "", name: "main" });
  expect(bindingRef(binding([], { tunnelRef: undefined }))).toBeUndefined();
});
