import { validateIngress } from "@quartet/tunnel-ingress";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aggregate, settingsWinner } from "./aggregate.ts";
import type { Source, SourceRule, Sources } from "./document.ts";
import { sourceKey } from "./document.ts";

const http = (name: string): string => `http://${name}:80`;

function sources(...list: Source[]): Sources {
  return Object.fromEntries(list.map((source) => [sourceKey(source), source]));
}

function ingress(name: string, rules: SourceRule[], more: Partial<Source> = {}): Source {
  return { kind: "Ingress", namespace: "shop", name, createdAt: "2026-01-01T00:00:00Z", rules, ...more };
}

const tunnel = (settings: Source["settings"], name = "main"): Source => ({
  kind: "ClusterTunnel",
  name,
  ...(settings !== undefined && { settings }),
});

describe("aggregation", () => {
  it("TUN-609 TUN-611 an empty tunnel still has its catch-all", () => {
    expect(aggregate({}).config).toEqual({
      ingress: [{ service: "http_status:404" }],
      originRequest: {},
      "warp-routing": { enabled: false },
    });
  });

  it("TUN-621 TUN-622 the older of two claims is served, the other is told", () => {
    const old = ingress("old", [{ hostname: "a.b", service: http("old") }], {
      createdAt: "2025-01-01T00:00:00Z",
    });
    const late = ingress("aaa", [{ hostname: "A.b.", service: http("late") }]);
    const unknown = ingress("000", [{ hostname: "a.b", service: http("peer") }], {
      createdAt: undefined as never,
    });
    const { config, conflicts } = aggregate(sources(late, old, unknown));
    expect(config.ingress[0]).toEqual({ hostname: "a.b", service: http("old") });
    expect(conflicts).toEqual([
      {
        hostname: "a.b",
        path: "",
        winner: "Ingress/shop/old",
        losers: ["Ingress/shop/000", "Ingress/shop/aaa"],
      },
    ]);
  });

  it("TUN-621 a lower priority wins over age", () => {
    const binding: Source = {
      kind: "TunnelBinding",
      namespace: "z",
      name: "b",
      rules: [{ hostname: "a.b", service: http("b") }],
    };
    const { config } = aggregate(sources(ingress("old", [{ hostname: "a.b", service: http("i") }]), binding));
    expect(config.ingress[0]?.service).toBe(http("b"));
  });

  it("TUN-624 TUN-625 doubles within a source are no conflict, nor are different paths", () => {
    const rules = [
      { hostname: "a.b", service: http("one") },
      { hostname: "a.b", service: http("two") },
      { hostname: "a.b", path: "^/x$", service: http("three") },
    ];
    const { config, conflicts, notices } = aggregate(sources(ingress("i", rules)));
    expect(config.ingress.map(({ service }) => service)).toEqual([
      http("three"),
      http("one"),
      "http_status:404",
    ]);
    expect(conflicts).toEqual([]);
    expect(notices).toMatchObject([{ reason: "RuleConflict", source: "Ingress/shop/i" }]);
  });

  it("TUN-626 TUN-640 settings come field by field from the first that has them", () => {
    const first = { ...tunnel({ warpRouting: true }), createdAt: "2025-01-01T00:00:00Z" };
    const options = { noTLSVerify: true, connectTimeout: "1500ms" };
    const second = {
      ...tunnel({ warpRouting: false, originRequest: options }, "two"),
      createdAt: "2026-01-01T00:00:00Z",
    };
    const third = ingress("i", [], { settings: { fallbackTarget: http("fallback") } });
    const fourth = ingress("j", [], { settings: { fallbackTarget: http("other") } });
    const { config, notices } = aggregate(sources(fourth, third, second, first));
    expect(config).toEqual({
      ingress: [{ service: http("fallback") }],
      originRequest: { noTLSVerify: true, connectTimeout: 2 },
      "warp-routing": { enabled: true },
    });
    expect(notices).toMatchObject([{ source: "Ingress/shop/j", reason: "FallbackConflict" }]);
  });

  it("TUN-619 TUN-706 TUN-713 TUN-714 a rule that cannot be sent is left out and named, the others go", () => {
    const bad: [string, SourceRule][] = [
      ["hostname cannot contain a port", { hostname: "a.b:443", service: http("x") }],
      ["at most one wildcard", { hostname: "a.*.b", service: http("x") }],
      ["at most one wildcard", { hostname: "*foo.com", service: http("x") }],
      ["would match every hostname", { hostname: "*", service: http("x") }],
      ["invalid hostname", { hostname: `${"x".repeat(64)}.b`, service: http("x") }],
      ["invalid regex", { hostname: "a.b", path: "^/(?!x)", service: http("x") }],
      ["unsupported scheme ftp", { hostname: "a.b", service: "ftp://x:21" }],
      ["port 99999 is out of range", { hostname: "a.b", service: "http://x:99999" }],
      ["no user, query or fragment", { hostname: "a.b", service: "http://u:p@x:1" }],
      ["no user, query or fragment", { hostname: "a.b", service: "http://x:1?q" }],
      ["different path on the origin", { hostname: "a.b", service: "http://x:1/" }],
      ["invalid HTTP status code", { hostname: "a.b", service: "http_status:99" }],
      ["path of the socket", { hostname: "a.b", service: "unix:" }],
      [
        "cannot be blank",
        { hostname: "a.b", service: http("x"), originRequest: { access: { required: true, audTag: ["a"] } } },
      ],
    ];
    const good = { hostname: "good.b", service: http("good") };
    const { config, rejected } = aggregate(sources(ingress("i", [...bad.map(([, rule]) => rule), good])));
    expect(config.ingress).toEqual([good, { service: "http_status:404" }]);
    expect(rejected).toHaveLength(bad.length);
    for (const [reason] of bad) expect(rejected.some((one) => one.reason.includes(reason))).toBe(true);
  });

  it("TUN-716 TUN-717 options that cloudflared could not read are dropped and told", () => {
    const originRequest = {
      connectTimeout: "-1s",
      tlsTimeout: "x",
      proxyPort: 0,
      keepAliveConnections: -1,
      proxyType: "http",
      tcpKeepAlive: 5,
      noTLSVerify: "yes",
    };
    const { config, notices } = aggregate(
      sources(ingress("i", [{ hostname: "a.b", service: http("x"), originRequest }])),
    );
    expect(config.ingress[0]?.originRequest).toEqual({ tcpKeepAlive: 5 });
    expect(notices).toHaveLength(6);
  });

  it("TUN-631 more than a thousand rules are sent, and told to the tunnel", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ hostname: `h${index}.b`, service: http("x") }));
    const of = (count: number) =>
      aggregate(sources(tunnel({ warpRouting: false }), ingress("i", many(count))));
    expect(of(1000).notices).toEqual([]);
    const { config, notices } = of(1001);
    expect(config.ingress).toHaveLength(1002);
    expect(notices).toMatchObject([{ source: "ClusterTunnel/main", reason: "ManyRules" }]);
  });

  it("TUN-626 of several tunnel objects the settings of the oldest count, and the others are told whose", () => {
    const made = (name: string, createdAt: string): Source => ({
      ...tunnel({ warpRouting: name === "old" }, name),
      createdAt,
    });
    const both = sources(
      made("young", "2026-02-01T00:00:00Z"),
      made("old", "2026-01-01T00:00:00Z"),
      ingress("i", []),
    );
    expect(aggregate(both).config["warp-routing"].enabled).toBe(true);
    expect(settingsWinner(both, "ClusterTunnel/young")).toBe("ClusterTunnel/old");
    expect(settingsWinner(both, "ClusterTunnel/old")).toBeUndefined();
    expect(settingsWinner(both, "ClusterTunnel/elsewhere")).toBeUndefined();
  });

  it("TUN-715 TUN-720 what may not work is sent, and told", () => {
    const rules = [
      { hostname: "a.b", service: "udp://x:53" },
      { hostname: "b.b", service: http("x"), originRequest: { http2Origin: true } },
      { hostname: "c.b", service: "https://x:443", originRequest: { http2Origin: true } },
    ];
    const { config, notices } = aggregate(sources(ingress("i", rules)));
    expect(config.ingress).toHaveLength(4);
    expect(notices.map(({ reason }) => reason)).toEqual(["UnverifiedScheme", "Http2NeedsHttps"]);
  });

  it("TUN-471 hosts are compared in lower case and punycode", () => {
    const { hostnames } = aggregate(
      sources(
        ingress("i", [
          { hostname: "*.MÜNCHEN.de.", service: http("x") },
          { hostname: "_a.B", service: http("x") },
        ]),
      ),
    );
    expect(hostnames).toEqual(["*.xn--mnchen-3ya.de", "_a.b"]);
  });

  const name = fc.constantFrom("a.b", "*.b", "", "*", "x.a.b", "*.a.b", "A.B", "a.b:1", "ä.de");
  const rule = fc.record(
    {
      hostname: name,
      path: fc.constantFrom("", "/", "^/a$", "(", "/a(/.*)?$"),
      service: fc.constantFrom(http("x"), http("y"), "ftp://x", "http_status:404", ""),
      priority: fc.integer({ min: 1, max: 3 }),
      originRequest: fc.constantFrom(
        { connectTimeout: "3s" },
        { ipRules: [{}] },
        { bastionMode: true },
        { proxyPort: "x" },
      ),
    },
    { requiredKeys: ["service"] },
  );
  const some = fc
    .array(fc.array(rule, { maxLength: 5 }), { maxLength: 5 })
    .map((lists) => sources(...lists.map((rules, index) => ingress(`i${index}`, rules as SourceRule[]))));

  it("TUN-612 TUN-701 whatever the sources hold, cloudflared takes the outcome, and the order of keys does not count", () => {
    fc.assert(
      fc.property(some, (all) => {
        const { config, hash } = aggregate(all);
        expect(() => validateIngress(config)).not.toThrow();
        const reversed = Object.fromEntries(Object.entries(all).reverse());
        expect(aggregate(reversed).hash).toBe(hash);
      }),
      { numRuns: 3000 },
    );
  });
});
