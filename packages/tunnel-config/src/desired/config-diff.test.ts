import { describe, expect, it } from "vitest";
import { configDiff } from "./config-diff.ts";

const rule = (hostname: string, service = "http://a:80", more: object = {}) => ({
  hostname,
  service,
  ...more,
});
const config = (...ingress: object[]) => ({ ingress: [...ingress, { service: "http_status:404" }] });

describe("TUN-639 the difference of two configurations", () => {
  it("is none where both mean the same", () => {
    const there = { ...config(rule("a.b", "http://a:80", { path: "", originRequest: {} })), unknown: 1 };
    expect(
      configDiff(there, { ...config(rule("a.b")), originRequest: {}, "warp-routing": { enabled: false } }),
    ).toEqual([]);
    expect(configDiff(null, null)).toEqual([]);
  });

  it("names each rule that goes or comes, and who asks for it", () => {
    const before = config(rule("a.b"), rule("c.d"));
    const after = config(rule("a.b", "http://b:80", { originRequest: { noTLSVerify: true } }), rule("c.d"));
    expect(configDiff(before, after, (place) => ["Ingress/web/a"][place])).toEqual([
      "- a.b, every path: http://a:80",
      '+ a.b, every path: http://b:80, with {"noTLSVerify":true}; asked for by Ingress/web/a',
    ]);
    expect(configDiff(null, config())).toEqual(["+ every host, every path: http_status:404"]);
    expect(configDiff({ ingress: ["odd"] }, config())).toContain('- "odd"');
  });

  it("names the order of what stays, and the options of the tunnel", () => {
    const [a, b] = [rule("a.b"), rule("c.d")];
    expect(configDiff(config(a, b), config(b, a, rule("e.f")))).toEqual([
      "+ e.f, every path: http://a:80",
      "~ the order of the rules",
    ]);
    expect(
      configDiff(config(), {
        ...config(),
        originRequest: { http2Origin: true },
        "warp-routing": { enabled: true },
      }),
    ).toEqual(['~ originRequest: {} becomes {"http2Origin":true}', "~ warp-routing: false becomes true"]);
  });
});
