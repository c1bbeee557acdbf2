import { describe, expect, it } from "vitest";
import type { AnyTunnel, Cached } from "../kinds.ts";
import { isHeldElsewhere, withoutHeldElsewhere } from "./holders.ts";

const OPERATOR = "operator";

function tunnel(place: string | undefined, tunnelId: string, created = 5): Cached<AnyTunnel> {
  const metadata = {
    name: "main",
    uid: `${place}-${created}`,
    creationTimestamp: `2026-01-0${created}T00:00:00Z`,
    ...(place !== undefined && { namespace: place }),
  };
  const kind = place === undefined ? "ClusterTunnel" : "Tunnel";
  return { kind, metadata, status: { tunnelId } } as unknown as Cached<AnyTunnel>;
}

describe("a tunnel of the account that an object has", () => {
  it.each([
    ["a Tunnel of another namespace, however much older", tunnel("b", "", 1), [tunnel("a", "t")], true],
    ["a Tunnel beside a ClusterTunnel", tunnel("b", "", 1), [tunnel(undefined, "t")], true],
    ["a Tunnel beside one of its own namespace", tunnel("a", ""), [tunnel("a", "t", 1)], false],
    ["a ClusterTunnel", tunnel(undefined, ""), [tunnel("a", "t", 1)], false],
    ["a Tunnel of the operator's namespace", tunnel(OPERATOR, ""), [tunnel(undefined, "t", 1)], false],
    ["the older of two Tunnels that both have it", tunnel("b", "t", 1), [tunnel("a", "t")], false],
    ["the younger of two Tunnels that both have it", tunnel("b", "t"), [tunnel("a", "t", 1)], true],
    ["a Tunnel that an administrator has taken it from", tunnel("b", "t", 1), [tunnel(undefined, "t")], true],
    ["whom nobody stands beside", tunnel("b", "t"), [tunnel("a", "other", 1)], false],
  ])("TUN-224 is not for others of less say: %s", (_who, one, others, expected) => {
    expect(isHeldElsewhere(one, "t", [one, ...others], OPERATOR)).toBe(expected);
  });

  it("TUN-224 is that of those alone who may have it", () => {
    const [own, other, none] = [tunnel("a", "t", 1), tunnel("b", "t", 2), tunnel("c", "")];
    const ids = withoutHeldElsewhere([own, other, none], OPERATOR).map(({ status }) => status?.tunnelId);
    expect(ids).toEqual(["t", "", ""]);
  });
});
