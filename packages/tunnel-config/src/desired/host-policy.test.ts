import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aggregate } from "./aggregate.ts";
import type { Source, Sources } from "./document.ts";
import { compileGrants, type HostGrant, hostPolicy, limitSource } from "./host-policy.ts";

const LABELS: Readonly<Record<string, Record<string, string>>> = { web: { team: "web" }, b: { team: "b" } };
const policy = (...grants: HostGrant[]) =>
  hostPolicy(compileGrants(grants), "ClusterTunnel/main", (namespace) => LABELS[namespace] ?? {});
const may = (check: ReturnType<typeof policy>, namespace: string, ...hosts: string[]): boolean[] =>
  hosts.map((host) => check(namespace, host) === undefined);

describe("hosts that a namespace may claim", () => {
  it("TUN-650 are those of the entries that mean it, by name or by labels; all others are nobody's", () => {
    const check = policy(
      { namespaces: ["a"], hostnames: ["a.example.com", "*.a.example.com"] },
      {
        namespaceSelector: { matchLabels: { team: "web" } },
        hostnames: ["WWW.Example.com", "ü.example.com"],
      },
      { namespaces: ["c"], namespaceSelector: {}, hostnames: ["*.all.example.com"] },
    );
    expect(
      may(check, "a", "a.example.com", "x.a.example.com", "x.y.a.example.com", "A.example.com."),
    ).toEqual(Array(4).fill(true));
    expect(may(check, "a", "example.com", "b.example.com", "xa.example.com", "www.example.com", "")).toEqual(
      Array(5).fill(false),
    );
    expect(may(check, "web", "www.example.com", "xn--tda.example.com", "a.example.com")).toEqual([
      true,
      true,
      false,
    ]);
    expect(may(check, "unknown", "x.all.example.com", "all.example.com")).toEqual([true, false]);
    expect(check("a", "b.example.com")).toBe("spec.hostPolicy of ClusterTunnel/main gives it to nobody");
    expect(check("b", "a.example.com")).toContain("gives a.example.com to others");
    expect(check("b", "")).toContain("gives it to nobody");
  });

  it("TUN-651 the most specific pattern decides: a broad one gives nothing of what is somebody's", () => {
    const check = policy(
      { namespaceSelector: {}, hostnames: ["*.example.com"] },
      { namespaces: ["web"], hostnames: ["www.example.com"] },
      { namespaces: ["b"], hostnames: ["*.b.example.com"] },
      { namespaces: ["ops"], hostnames: ["*.b.example.com", "www.example.com", "*"] },
    );
    expect(may(check, "a", "x.example.com", "www.example.com", "x.b.example.com", "b.example.com")).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(may(check, "web", "www.example.com")).toEqual([true]);
    expect(may(check, "b", "x.b.example.com", "*.b.example.com")).toEqual([true, true]);
    expect(may(check, "ops", "example.org", "x.b.example.com", "x.example.com", "")).toEqual(
      Array(4).fill(true),
    );
  });

  it("TUN-651 a wildcard, and a rule without a host, claim every name that they stand for", () => {
    const check = policy(
      { namespaceSelector: {}, hostnames: ["*.example.com", "*"] },
      { namespaces: ["web"], hostnames: ["www.shop.example.com"] },
    );
    expect(may(check, "a", "*.example.com", "*.shop.example.com", "*.www.shop.example.com", "")).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(may(check, "a", "*.example.org", "*.hop.example.com")).toEqual([true, true]);
    expect(may(check, "web", "*.example.com", "")).toEqual([true, true]);
    expect(check("a", "*.example.com")).toContain("www.shop.example.com, which it includes");
  });

  it("TUN-651 agrees with a plain reading of the rule", () => {
    const label = fc.constantFrom("a", "b", "c-d");
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
    const pattern = fc.oneof(
      name,
      name.map((one) => `*.${one}`),
      fc.constant("*"),
    );
    const grant = fc.record({
      namespaces: fc.array(fc.constantFrom("n", "m"), { maxLength: 2 }),
      hostnames: fc.array(pattern, { minLength: 1, maxLength: 3 }),
    });
    const covers = (one: string, host: string): boolean =>
      one === "*" || one === host || (one.startsWith("*.") && host.endsWith(one.slice(1)) && host !== one);
    const plain = (grants: readonly HostGrant[], host: string): boolean => {
      const all = [...new Set(grants.flatMap(({ hostnames }) => hostnames))];
      const isFor = (one: string): boolean =>
        grants.some(({ namespaces = [], hostnames }) => hostnames.includes(one) && namespaces.includes("n"));
      const rank = (one: string): number => (one === host ? 1e3 : one === "*" ? 0 : one.length);
      const [deciding] = all.filter((one) => covers(one, host)).sort((a, b) => rank(b) - rank(a));
      if (deciding === undefined || !isFor(deciding)) return false;
      if (host !== "" && !host.startsWith("*.")) return true;
      return all.every((one) => isFor(one) || !(host === "" || one.endsWith(host.slice(1))) || one === host);
    };
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 5 }), fc.oneof(pattern, fc.constant("")), (grants, host) => {
        const asked = host === "*" ? "" : host;
        expect(policy(...grants)("n", asked) === undefined).toBe(plain(grants, asked));
      }),
    );
  });
});

describe("a source under a policy", () => {
  const source: Source = {
    kind: "Ingress",
    namespace: "a",
    name: "i",
    settings: { fallbackTarget: "http://mine:80" },
    rules: [
      { hostname: "a.example.com", service: "http://a:80" },
      { hostname: "b.example.com", path: "^/x", service: "http://b:80" },
      { hostname: "b.example.com", path: "^/y", service: "http://b:80" },
    ],
  };
  const other: Source = { ...source, namespace: "b", settings: {}, name: "o" };
  const sources = (limited: Source): Sources => ({ "Ingress/a/i": limited, "Ingress/b/o": other });
  const check = policy({ namespaces: ["a"], hostnames: ["a.example.com"] });

  it("TUN-650 TUN-652 loses what it may not claim, told once for each host, and takes nothing from others", () => {
    const { config, rejected } = aggregate(sources(limitSource(source, [check])));
    expect(config.ingress.map(({ hostname = "", path = "", service }) => hostname + path + service)).toEqual([
      "a.example.comhttp://a:80",
      "b.example.com^/xhttp://b:80",
      "b.example.com^/yhttp://b:80",
      "http_status:404",
    ]);
    expect(rejected.map(({ source: from, hostname, cause }) => [from, hostname, cause])).toEqual([
      ["Ingress/a/i", "", "HostNotAllowed"],
      ["Ingress/a/i", "b.example.com", "HostNotAllowed"],
    ]);
  });

  it("TUN-652 many hosts are told in few words", () => {
    const rules = Array.from({ length: 25 }, (_, at) => ({
      hostname: `h${at}.example.org`,
      service: "http://x:1",
    }));
    const { rejected } = aggregate(sources(limitSource({ ...source, settings: {}, rules }, [check])));
    expect(rejected).toHaveLength(11);
    expect(rejected.map(({ reason }) => reason)).toContain(
      "namespace a may not claim 15 further hosts, by spec.hostPolicy",
    );
  });

  it("TUN-652 is the same again when the policy is gone, and is not written anew where nothing changes", () => {
    const limited = limitSource(source, [check]);
    expect(limitSource(limited, [check])).toBe(limited);
    expect(limitSource(limited, [])).toEqual(source);
    expect(limitSource(source, [])).toBe(source);
  });

  it("TUN-653 of several tunnel objects each has its say; the settings of a tunnel and of a class are not a tenant's", () => {
    const strict = policy({ namespaces: ["a"], hostnames: ["b.example.com"] });
    expect((limitSource(source, [check, strict]).rules ?? []).every(({ denied }) => denied)).toBe(true);
    const tunnel: Source = { kind: "Tunnel", namespace: "a", name: "t", settings: source.settings! };
    expect(limitSource(tunnel, [check])).toBe(tunnel);
    const ofClass = { ...source, rules: [], settings: { ...source.settings, fallbackOfClass: true } };
    expect(limitSource(ofClass, [check])).toBe(ofClass);
  });
});
