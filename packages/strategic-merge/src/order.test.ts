import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrange } from "./order.ts";

const words = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
const known = (list: readonly string[]): { item: string; identity: string }[] =>
  list.map((item) => ({ item, identity: item }));

/** The items of the list that are in the other one, in the order that they have there. */
const asIn = (list: readonly string[], other: readonly string[]): string[] =>
  other.filter((item) => list.includes(item));

describe("arrange", () => {
  it.each([
    ["abc", "x", "abc", "xabc"],
    ["abc", "bx", "abc", "abxc"],
    ["abc", "xb", "abc", "xabc"],
    ["abc", "ca", "abc", "bca"],
    ["abc", "cxa", "abc", "bcxa"],
    ["ab", "", "ba", "ba"],
    ["ab", "bab", "ab", "ba"],
    ["ab", "", "bab", "ba"],
  ])("DSP-413 places %s, of which %s is mentioned, over %s as %s", (present, mentioned, before, expected) => {
    const merged = [...new Set([...present, ...mentioned])];
    expect(arrange(known(merged), [...mentioned], [...before]).join("")).toBe(expected);
  });

  it("DSP-413 keeps both sequences and loses nothing", () => {
    fc.assert(
      fc.property(words, words, (present, mentioned) => {
        const merged = [...new Set([...present, ...mentioned])];
        const result = arrange(known(merged), mentioned, present) as string[];
        expect([...result].sort()).toEqual([...merged].sort());
        const others = present.filter((item) => !mentioned.includes(item));
        expect(asIn(mentioned, result)).toEqual(mentioned);
        expect(asIn(others, result)).toEqual(others);
      }),
    );
  });

  it("DSP-414 puts new items in front of all that remain", () => {
    fc.assert(
      fc.property(words, words, (present, mentioned) => {
        const added = mentioned.filter((item) => !present.includes(item));
        expect(arrange(known([...present, ...added]), added, present)).toEqual([...added, ...present]);
      }),
    );
  });

  it("turns a run of items round that neither list holds, as the original does", () => {
    expect(arrange(known(["x", "y", "z"]), [], [])).toEqual(["z", "y", "x"]);
  });
});
