import { describe, expect, it } from "vitest";
import { changesOf } from "./changes.ts";

describe("what of a remote object is to be changed", () => {
  it("TUN-905 is nothing when the remote one holds all that is wanted, and more", () => {
    const remote = { id: "1", name: "a", rules: [{ ip: { ip: "10.0.0.0/8", note: "x" } }], comment: "" };
    expect(changesOf(remote, { name: "a", rules: [{ ip: { ip: "10.0.0.0/8" } }] })).toBeUndefined();
  });

  it.each([undefined, null, "", false, []])("TUN-905 takes %j for what is not there", (nothing) => {
    expect(changesOf({}, { field: nothing })).toBeUndefined();
    expect(changesOf({ field: nothing }, { field: "" })).toBeUndefined();
    expect(changesOf({ field: "x" }, { field: nothing })).toEqual({ field: nothing });
  });

  it("TUN-905 names the members that differ, with lists in their order", () => {
    const wanted = { name: "b", list: [1, 2], same: true };
    expect(changesOf({ name: "a", list: [2, 1], same: true }, wanted)).toEqual({ name: "b", list: [1, 2] });
  });
});
