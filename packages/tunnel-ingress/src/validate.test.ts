import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { objection, playIngressCase } from "./corpus.testkit.ts";
import { type ConfigForm, type IngressRule, validateIngress } from "./index.ts";

const cases = readFileSync(new URL("../test/corpus/cloudflared.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Record<string, unknown> & { name: string; ingress: IngressRule[] });

const CATCH_ALL = { service: "http_status:404" };

function problem(config: Record<string, unknown>, form: ConfigForm = "remote"): string | undefined {
  try {
    validateIngress(config, form);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const problemOf = (rule: IngressRule): string | undefined => problem({ ingress: [rule, CATCH_ALL] });

describe("cases measured on cloudflared", () => {
  it("TUN-701 TUN-702 TUN-711 TUN-712 validity and the serving rule are those of cloudflared in every case", () => {
    expect(cases.length).toBeGreaterThan(200);
    expect(cases.flatMap((testCase) => playIngressCase(testCase) ?? [])).toEqual([]);
  });

  it("TUN-703 TUN-704 TUN-705 TUN-708 names the same problem first", () => {
    const refused = cases.filter(
      ({ valid, error }) => valid !== true && !String(error).includes("unmarshal"),
    );
    for (const { ingress, error } of refused) {
      // What follows the colon of a bad expression are the words of the engine.
      const essence = (text: unknown) => String(text).replace(/(invalid regex): .*/s, "$1");
      expect(essence(objection(ingress))).toBe(essence(error));
    }
    expect(refused.length).toBeGreaterThan(40);
  });
});

describe("TUN-707 expressions of a path", () => {
  it.each(["(?=x)", "(?!x)", "(?<=a)b", "(a)\\1", "a(b", "[", "a{1001}", "*a"])("refuses %s", (path) => {
    expect(problemOf({ hostname: "a.b", path, service: "http://x:1" })).toContain(
      "Rule #1 has an invalid regex",
    );
  });

  it.each(["^/api(/.*)?$", "\\.(jpg|png)$", "\\pL+", "(?i)/A", "(?P<n>a)"])("takes %s", (path) => {
    expect(problemOf({ hostname: "a.b", path, service: "http://x:1" })).toBeUndefined();
  });

  it("matches in linear time", () => {
    const rules = [{ hostname: "a.b", path: "^(a+)+$", service: "http://x:1" }, CATCH_ALL];
    expect(problem({ ingress: rules })).toBeUndefined();
    const long = { hostname: "a.b", path: "a".repeat(5000), service: "http://x:1" };
    expect(problemOf(long)).toContain("at most 4096");
  });
});

describe("services", () => {
  it("TUN-709 TUN-710 takes those that are no address", () => {
    const services = [
      "hello_world",
      "hello-world",
      "bastion",
      "socks-proxy",
      "unix:/a",
      "unix+tls:/a",
      "http_status:999",
    ];
    expect(services.flatMap((service) => problemOf({ hostname: "a.b", service }) ?? [])).toEqual([]);
  });

  it("TUN-708 refuses statuses that no server can send", () => {
    for (const status of ["99", "1000", "-404", "4x4", ""]) {
      expect(problemOf({ hostname: "a.b", service: `http_status:${status}` })).toContain(
        "invalid HTTP status code",
      );
    }
  });

  it.each([
    ["svc:80", "scheme and a hostname"],
    ["", "scheme and a hostname"],
    ["http://:80", "scheme and a hostname"],
    ["http://svc:80/", "different path on the origin"],
    ["http://svc:x", "invalid port"],
    ["http://a b", "invalid character"],
    ["http://a:1:2", "invalid port"],
    ["http://[::1", "invalid host"],
    ["http://[zz]:80", "invalid host"],
    ["http://a%2fb", "invalid URL escape"],
  ])("TUN-711 TUN-712 refuses %j", (service, essence) => {
    expect(problemOf({ hostname: "a.b", service })).toContain(essence);
  });

  it("TUN-721 needs no service in bastion mode, which the tunnel may switch on and a rule off", () => {
    const rule = { hostname: "a.b", originRequest: { bastionMode: true } };
    expect(problemOf(rule)).toBeUndefined();
    const defaults = { originRequest: { bastionMode: true } };
    expect(problem({ ...defaults, ingress: [{ hostname: "a.b" }, CATCH_ALL] })).toBeUndefined();
    const off = { hostname: "a.b", originRequest: { bastionMode: false } };
    expect(problem({ ...defaults, ingress: [off, CATCH_ALL] })).toContain("scheme and a hostname");
  });
});

describe("options towards the origin", () => {
  const withOptions = (originRequest: unknown, service = "http://x:1") =>
    problemOf({ hostname: "a.b", service, originRequest });

  it("TUN-1113 durations are whole seconds in the API and texts in the file", () => {
    const config = (connectTimeout: unknown) => ({ ingress: [CATCH_ALL], originRequest: { connectTimeout } });
    expect(problem(config(30))).toBeUndefined();
    expect(problem(config("30s"))).toContain("originRequest.connectTimeout");
    expect(problem(config(1.5))).toContain("originRequest.connectTimeout");
    expect(problem(config("1h30m0.5s"), "file")).toBeUndefined();
    for (const bad of [30, "30", "1.5.s", "h"])
      expect(problem(config(bad), "file")).toContain("connectTimeout");
  });

  it("refuses values of another type, and leaves fields alone that it does not know", () => {
    expect(withOptions({ noTLSVerify: "yes" })).toContain("originRequest.noTLSVerify");
    expect(withOptions({ proxyPort: -1 })).toContain("originRequest.proxyPort");
    expect(withOptions({ httpHostHeader: 1 })).toContain("originRequest.httpHostHeader");
    expect(withOptions([])).toContain("originRequest is no object");
    expect(withOptions({ futureOption: { a: 1 }, noTLSVerify: null })).toBeUndefined();
  });

  it("TUN-718 address rules count for a SOCKS proxy", () => {
    const rules = (...ipRules: unknown[]) => withOptions({ ipRules }, "socks-proxy");
    expect(
      rules({ prefix: "10.0.0.0/8", ports: [80, 443], allow: true }, { prefix: "::/0" }),
    ).toBeUndefined();
    for (const bad of [
      {},
      { prefix: "10.0.0.0" },
      { prefix: "10.0.0.0/33" },
      { prefix: "::/0", ports: [0] },
    ]) {
      expect(rules(bad)).toContain("unable to create ip rule");
    }
    expect(withOptions({ ipRules: [{}] })).toBeUndefined();
  });

  it("TUN-719 audiences need a team when access is required", () => {
    expect(withOptions({ access: { required: true, audTag: ["x"] } })).toContain("cannot be blank");
    expect(withOptions({ access: { required: false, audTag: ["x"] } })).toBeUndefined();
    expect(withOptions({ access: { required: true, teamName: "t", audTag: ["x"] } })).toBeUndefined();
  });
});
