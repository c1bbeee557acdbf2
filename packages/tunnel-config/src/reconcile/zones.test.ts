import { type SourceReader, systemClock } from "@quartet/core";
import { describe, expect, it } from "vitest";
import type { CloudflareApi, ZoneInfo } from "../cloudflare/api.ts";
import type { CloudflareSpec } from "./access.ts";
import { createZones } from "./zones.ts";

const ZONES: readonly ZoneInfo[] = ["example.com", "sub.example.com", "paid.org"].map((name) => ({
  id: name,
  name,
  plan: { legacy_id: name === "paid.org" ? "pro" : "free" },
}));

/** Zones of an account, and the CloudflareDomains that name some of them. */
function account(...domains: { domain: string; isDefault?: boolean; zoneId?: string }[]) {
  const calls: string[] = [];
  const api = {
    zone: async (id: string) => ZONES.find((zone) => zone.id === id),
    zonesNamed: async (name: string) => {
      calls.push(name);
      return ZONES.filter((zone) => zone.name === name);
    },
  } as unknown as CloudflareApi;
  const list = async () =>
    domains.map(({ zoneId, ...spec }) => ({ spec, status: { zoneId: zoneId ?? spec.domain } }));
  const zones = createZones(systemClock);
  const cache = { list } as unknown as SourceReader;
  const find = (host: string, spec?: CloudflareSpec) => zones.find(host, spec, api, cache);
  return { zones, calls, find, name: async (...of: Parameters<typeof find>) => (await find(...of)).name };
}

describe("the zone of a host", () => {
  it("TUN-111 is named by its identifier or domain, else the longest that holds the host, else looked for in the account", async () => {
    const { name, calls } = account(
      { domain: "Example.com", zoneId: "example.com" },
      { domain: "sub.example.com" },
    );
    expect(await name("a.sub.example.com", { zoneId: "example.com" })).toBe("example.com");
    expect(await name("a.sub.example.com", { domain: "EXAMPLE.com" })).toBe("example.com");
    expect(await name("a.SUB.example.com.")).toBe("sub.example.com");
    expect(await name("a.example.com")).toBe("example.com");
    expect(calls).toEqual([]);
    expect(await name("*.a.b.paid.org")).toBe("paid.org");
    expect(calls).toEqual(["a.b.paid.org", "b.paid.org", "paid.org"]);
  });

  it("TUN-112 TUN-113 is none that the host is not in, be it named or the default one", async () => {
    const { find, name } = account({ domain: "example.com", isDefault: true });
    for (const spec of [undefined, { zoneId: "example.com" }, { domain: "example.com" }])
      await expect(find("test.myexample.com", spec)).rejects.toThrow(
        "test.myexample.com does not belong to domain",
      );
    for (const host of ["www", "@", "_sip._tcp"]) expect(await name(host)).toBe("example.com");
    expect(await name("www", { zoneId: "paid.org" })).toBe("paid.org");
  });

  it("TUN-808 TUN-809 has comments as long as its plan lets, until it refuses one", async () => {
    const { find, zones } = account();
    const limit = async (host: string) => (await find(host)).commentLimit;
    expect([await limit("a.paid.org"), await limit("a.example.com")]).toEqual([500, 100]);
    zones.shorten("paid.org");
    expect(await limit("a.paid.org")).toBe(100);
  });
});
