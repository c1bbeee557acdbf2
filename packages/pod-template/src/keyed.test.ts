import { describe, expect, it } from "vitest";
import { fields, mergeByKey, withoutTrailingSlashes } from "./keyed.ts";

describe("lists by key", () => {
  it("CORE-326 merges long lists in a time that grows with their length", () => {
    const list = Array.from({ length: 100_000 }, (_, index) => ({ name: `n${index}` }));
    const more = list.map((item) => ({ ...item, value: 1 }));
    expect(mergeByKey(list, more, fields("name"))).toEqual(more);
  });

  it("CORE-326 overrides in place, and appends what is new once", () => {
    const merged = mergeByKey([{ n: 1 }, { n: 2 }], [{ n: 2, x: 1 }, { n: 3 }, { n: 3, y: 1 }], fields("n"));
    expect(merged).toEqual([{ n: 1 }, { n: 2, x: 1 }, { n: 3, y: 1 }]);
  });

  it("CORE-326 takes any number of slashes off a path, but the root's", () => {
    expect(withoutTrailingSlashes(`/a${"/".repeat(1_000_000)}`)).toBe("/a");
    expect(withoutTrailingSlashes(`${"/".repeat(1_000_000)}`)).toBe("/");
    expect(withoutTrailingSlashes(`${"/".repeat(1_000_000)}a`)).toHaveLength(1_000_001);
  });
});
