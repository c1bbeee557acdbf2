import { describe, expect, it } from "vitest";
import type { Owner } from "./marker.ts";
import { type Claimed, type Claims, ownerOf, verdictOf } from "./ownership.ts";

const own: Owner = { kind: "VirtualNetwork", namespace: "", name: "office" };
const other: Owner = { kind: "AccessGroup", namespace: "", name: "elder" };
const claims: Claims = {
  own,
  noun: "thing",
  adopt: false,
  held: undefined,
  began: false,
  holder: () => undefined,
};
const of = (comment: string | undefined, id = "1"): Claimed => ({ id, comment });

describe("whose a remote object is", () => {
  it("TUN-904 takes nothing for one to create", () => {
    expect(verdictOf([], claims)).toBeUndefined();
  });

  it.each(["[managed-by:VirtualNetwork/office]", "[managed:VirtualNetwork/office] hq"])(
    "TUN-904 D1 takes over without being asked what carries its own marker: %s",
    (comment) => {
      const mine = of(comment);
      expect(verdictOf([of("by hand", "2"), mine], claims)).toEqual({ use: mine, adopted: false });
    },
  );

  it("TUN-806 names the owner of a foreign marker, whatever the annotation says", () => {
    const found = [of("[managed-by:VirtualNetwork/theirs] x")];
    const owner = { kind: "VirtualNetwork", namespace: "", name: "theirs" };
    expect(verdictOf(found, { ...claims, adopt: true })).toEqual({
      conflict: "thing managed by VirtualNetwork/theirs",
      owner,
    });
  });

  it("TUN-805 of two clusters each has its own; a marker without a cluster is ours by the status or when asked for", () => {
    const here: Claims = { ...claims, own: { ...own, cluster: "east" } };
    const [theirs, nobodys] = [
      of("[managed-by:VirtualNetwork/office@west]"),
      of("[managed:VirtualNetwork/office]"),
    ];
    expect(verdictOf([theirs], { ...here, adopt: true })).toMatchObject({
      conflict: "thing managed by VirtualNetwork/office@west",
    });
    expect(ownerOf(theirs, { ...here, held: "1" })).toEqual({ ...own, cluster: "west" });
    expect(verdictOf([theirs], claims)).toMatchObject({ owner: { cluster: "west" } });
    expect(verdictOf([nobodys], here)).toMatchObject({ conflict: "thing managed by VirtualNetwork/office" });
    expect(verdictOf([nobodys], { ...here, adopt: true })).toEqual({ use: nobodys, adopted: false });
    expect([ownerOf(nobodys, here), ownerOf(nobodys, { ...here, held: "1" })]).toEqual([own, undefined]);
  });

  it.each(["Managed by cloudflare-operator", "Managed by Gateway ns/name", undefined])(
    "TUN-812 TUN-904 D13 leaves alone what has no marker, and takes it when asked: %s",
    (comment) => {
      const found = of(comment);
      const conflict = expect.stringContaining("exists and is not managed by this resource");
      expect(verdictOf([found], claims)).toEqual({ conflict });
      expect(verdictOf([found], { ...claims, adopt: true })).toEqual({ use: found, adopted: true });
    },
  );

  it("TUN-941 an object of the cluster that holds the identifier has it; what this one began is its own", () => {
    const found = of(undefined);
    const held = { ...claims, adopt: true, began: true, holder: () => other };
    expect(verdictOf([found], held)).toEqual({
      conflict: "thing managed by AccessGroup/elder",
      owner: other,
    });
    expect(verdictOf([found], { ...claims, began: true })).toEqual({ use: found, adopted: false });
  });

  it("TUN-939 chooses none of several of one name", () => {
    const found = [of(undefined, "1"), of(undefined, "2")];
    const conflict = expect.stringMatching(/multiple resources found: .*2 of that name \(1, 2\)/);
    expect(verdictOf(found, { ...claims, adopt: true, began: true })).toEqual({ conflict });
  });
});
