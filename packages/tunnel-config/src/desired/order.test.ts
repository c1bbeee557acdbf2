import { routesOf } from "@quartet/tunnel-ingress";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PathKind, SourceRule } from "./document.ts";
import { compareBytes, orderRules, type PlacedRule } from "./order.ts";
import { escapePath, pathRank } from "./path-kind.ts";

let counter = 0;
function place(hostname: string, options: Partial<SourceRule> & { priority?: number } = {}): PlacedRule {
  const { priority = 100, ...rest } = options;
  counter += 1;
  return {
    rule: { service: "http://x:1", hostname, ...rest },
    hostname,
    priority,
    source: `Ingress/d/${counter}`,
    index: 0,
  };
}

const exact = (path: string) => ({
  path: `^${escapePath(path)}$`,
  pathKind: "Exact" as PathKind,
  matchPath: path,
});
const prefix = (path: string) => ({
  path: `^${escapePath(path)}(/.*)?$`,
  pathKind: "Prefix" as PathKind,
  matchPath: path,
});
const shown = (rules: readonly PlacedRule[]) =>
  rules.map(({ hostname, rule }) => `${hostname} ${rule.path ?? ""}`.trim());

describe("order of rules", () => {
  it("TUN-605 the example of the rule book", () => {
    const rules = [
      place("*.example.com", { priority: 50 }),
      place("zzz.other.org", { priority: 50 }),
      place("aaa.other.org"),
      place("app.example.com"),
      place("app.example.com", prefix("/api")),
    ];
    expect(shown(orderRules(rules))).toEqual([
      "zzz.other.org",
      "aaa.other.org",
      "app.example.com ^/api(/.*)?$",
      "app.example.com",
      "*.example.com",
    ]);
  });

  it("TUN-602 within a host: exact, expression, longer prefix, shorter prefix, none", () => {
    const rules = [
      place("a.b", { priority: 1 }),
      place("a.b", { ...prefix("/api"), priority: 2 }),
      place("a.b", { ...prefix("/api/v1"), priority: 3 }),
      place("a.b", { path: "\\.png$", pathKind: "Regex", priority: 4 }),
      place("a.b", { ...exact("/api/v1"), priority: 5 }),
    ];
    expect(shown(orderRules(rules))).toEqual([
      "a.b ^/api/v1$",
      "a.b \\.png$",
      "a.b ^/api/v1(/.*)?$",
      "a.b ^/api(/.*)?$",
      "a.b",
    ]);
  });

  it("TUN-601 TUN-604 rules that have nothing in common stand by priority, then hostname", () => {
    const hosts = fc.uniqueArray(fc.constantFrom("a.x", "b.x", "c.y", "z.a", "m.m"), { minLength: 1 });
    fc.assert(
      fc.property(
        hosts,
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }),
        (names, priorities) => {
          const rules = names.map((name, index) => place(name, { priority: priorities[index] ?? 1 }));
          const bySeed = [...rules].sort(
            (a, b) => a.priority - b.priority || compareBytes(a.hostname, b.hostname),
          );
          expect(shown(orderRules(rules))).toEqual(shown(bySeed));
        },
      ),
    );
  });

  const host = fc.constantFrom("", "a.b.c", "x.a.b.c", "*.a.b.c", "*.b.c", "*.c", "b.c", "d.e", "*.e");
  const path = fc.constantFrom({}, exact("/p"), prefix("/p"), prefix("/p/q"), exact("/p/q"), prefix("/r"));
  const sets = fc
    .array(fc.tuple(host, path, fc.integer({ min: 1, max: 3 })), { maxLength: 14 })
    .map((drawn) => {
      const seen = new Set<string>();
      return drawn.flatMap(([name, options, priority]) => {
        const key = name + JSON.stringify(options);
        if (seen.has(key) || (name === "" && !("path" in options))) return [];
        seen.add(key);
        return [place(name, { ...options, priority })];
      });
    });

  it("TUN-603 does not depend on the order given", () => {
    fc.assert(
      fc.property(
        sets.chain((rules) =>
          fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
        ),
        ([rules, shuffled]) => {
          expect(orderRules(shuffled)).toEqual(orderRules(rules));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("TUN-602 TUN-603 every rule serves the requests that are meant for it alone", () => {
    fc.assert(
      fc.property(sets, (rules) => {
        const ordered = orderRules(rules);
        expect(ordered).toHaveLength(rules.length);
        const serve = routesOf([...ordered.map(({ rule }) => rule), { service: "http_status:404" }]);
        for (const [index, { hostname, rule }] of ordered.entries()) {
          const request = hostname === "" ? "other.name" : hostname.replace("*", "probe");
          const asked = rule.matchPath ?? "/elsewhere";
          const served = ordered[serve(request, asked)];
          // A rule of the same host with an equal path, exact before prefix, may take it.
          const meant = serve(request, rule.pathKind === "Prefix" ? `${asked}/below` : asked) === index;
          expect(meant || (served?.hostname === hostname && served.rule.matchPath === rule.matchPath)).toBe(
            true,
          );
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("TUN-607 TUN-608 kinds of paths that tell none", () => {
    const ranks = (...paths: string[]) => paths.map((text) => pathRank({ path: text }).rank);
    expect(ranks("", "/", "^/.*$", ".*")).toEqual([3, 3, 3, 3]);
    expect(ranks("^/a$", "^/a\\.b$")).toEqual([0, 0]);
    expect(ranks("/api(/.*)?$", "^/api(/.*)?$", "/api/.*")).toEqual([2, 2, 2]);
    expect(ranks("\\.png$", "^/a.b$", "/api")).toEqual([1, 1, 1]);
    expect(pathRank({ path: "/api(/.*)?$" }).length).toBe(4);
  });

  it("TUN-603 orders thousands of rules in a moment", () => {
    const many = Array.from({ length: 5000 }, (_, index) => place(`h${index}.d${index % 7}.example.com`));
    const ordered = orderRules([place("*.example.com", { priority: 1 }), ...many]);
    expect(ordered.at(-1)?.hostname).toBe("*.example.com");
  });
});
