import { describe, expect, it } from "vitest";
import { canonicalNetwork, networkProblem } from "./cidr.ts";

describe("networks", () => {
  it.each([
    ["10.20.0.0/16", "10.20.0.0/16"],
    ["10.0.0.5/24", "10.0.0.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.0.2.1/32", "192.0.2.1/32"],
    ["fd00:0:0::/64", "fd00::/64"],
    ["FD00::1/128", "fd00::1/128"],
    ["2001:db8:0:1:1:1:1:1/128", "2001:db8:0:1:1:1:1:1/128"],
    ["2001:0:0:1::1/128", "2001:0:0:1::1/128"],
    ["::ffff:192.0.2.0/120", "::ffff:c000:200/120"],
    ["::/0", "::/0"],
  ])("TUN-931 %s is %s", (text, canonical) => {
    expect(canonicalNetwork(text)).toBe(canonical);
  });

  it.each([
    "10.300.0.5/24",
    "10.0.0.0/33",
    "10.0.0.0",
    "10.0.0/8",
    "fd00::/129",
    "x/8",
    "10.0.0.0/8/8",
    "fd00::1::/64",
  ])("TUN-931 %s is none", (text) => {
    expect(networkProblem(text)).toMatch(/spec.network: .* is no network in CIDR notation/);
  });

  it("TUN-931 bits beyond the prefix are refused with the network that is meant", () => {
    expect(networkProblem("10.0.0.5/24")).toContain("write 10.0.0.0/24");
    expect(networkProblem("fd00::1/64")).toContain("write fd00::/64");
    expect([networkProblem("10.0.0.0/24"), networkProblem("fd00:0::/64")]).toEqual([undefined, undefined]);
  });
});
