import { describe, expect, it } from "vitest";
import type { AnyTunnel } from "../../kinds.ts";
import { aggregate } from "../aggregate.ts";
import { sourceKey } from "../document.ts";
import { settingsProblem, tunnelSource } from "./tunnel.ts";

const tunnel = (spec: object, metadata: object = {}): AnyTunnel =>
  ({ kind: "ClusterTunnel", metadata: { name: "main", generation: 4, ...metadata }, spec }) as never;
const settings = (spec: object) => tunnelSource(tunnel(spec)).settings;

describe("settings of a tunnel", () => {
  it("TUN-401 TUN-404 always say whether WARP is routed, and follow the spec", () => {
    expect(tunnelSource(tunnel({}))).toEqual({
      kind: "ClusterTunnel",
      name: "main",
      generation: 4,
      priority: 10,
      settings: { warpRouting: false },
      rules: [],
    });
    expect(settings({ enableWarpRouting: true })).toEqual({ warpRouting: true });
    expect(tunnelSource(tunnel({}, { namespace: "n" })).namespace).toBe("n");
  });

  it("TUN-402 have a fallback that is another one than everybody's", () => {
    expect(settings({ fallbackTarget: "" })).not.toHaveProperty("fallbackTarget");
    expect(settings({ fallbackTarget: "http_status:404" })).not.toHaveProperty("fallbackTarget");
    expect(settings({ fallbackTarget: "http://x:80" })).toHaveProperty("fallbackTarget", "http://x:80");
  });

  it("TUN-403 have options of the origin in the words of the API, the long form over the short one", () => {
    expect(settings({ noTlsVerify: false, originCaPool: "" })).not.toHaveProperty("originRequest");
    const short = { noTlsVerify: true, originCaPool: "ca" };
    expect(settings(short)).toHaveProperty("originRequest", {
      noTLSVerify: true,
      caPool: "/etc/cloudflared/certs/tls.crt",
    });
    const originRequest = { caPool: "other", connectTimeout: "1m30s", ipRules: [{ prefix: "10.0.0.0/8" }] };
    expect(settings({ ...short, originRequest })).toHaveProperty("originRequest", {
      noTLSVerify: true,
      caPool: "/etc/cloudflared/certs/other",
      connectTimeout: 90,
      ipRules: [{ prefix: "10.0.0.0/8" }],
    });
  });

  it.each([
    [{ fallbackTarget: "ftp://x:21" }, "spec.fallbackTarget: unsupported scheme ftp"],
    [{ originRequest: { connectTimeout: "soon" } }, "spec.originRequest.connectTimeout"],
    [{ originRequest: { proxyType: "http" } }, "spec.originRequest.proxyType"],
    [{ originRequest: { ipRules: [{ prefix: 5 }] } }, "spec.originRequest: "],
  ])("TUN-405 are told when they cannot be used, and left out: %j", (spec, problem) => {
    expect(settingsProblem(tunnel(spec))).toContain(problem);
    const source = tunnelSource(tunnel({ ...spec, noTlsVerify: true }));
    const { config } = aggregate({ [sourceKey(source)]: source });
    expect(config.ingress).toEqual([{ service: "http_status:404" }]);
    expect(JSON.stringify(config)).not.toMatch(/soon|ftp|"http"|prefix/);
  });

  it("TUN-405 are nobody's fault when they can", () => {
    expect(
      settingsProblem(tunnel({ fallbackTarget: "http://x:80", originRequest: { tlsTimeout: "3s" } })),
    ).toBe(undefined);
    expect(settingsProblem(tunnel({}))).toBeUndefined();
  });
});
