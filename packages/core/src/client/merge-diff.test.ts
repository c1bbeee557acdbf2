import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NestingError } from "../nesting.ts";
import { nested } from "../testkit/nested.ts";
import { mergeDiff, sameJson } from "./merge-diff.ts";

/** RFC 7386, as the server does it. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  const result = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** Members that are null cannot be set by a merge patch. */
function withoutNull(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNull(member)]));
}

/** Objects as they come out of a JSON parser. */
const record = fc
  .dictionary(
    fc.oneof(fc.constantFrom("a", "b", "c", "__proto__", "constructor"), fc.string()),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 5, noNullPrototype: true },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

describe("mergeDiff", () => {
  it("CORE-142 makes a patch that turns any object into any other", () => {
    fc.assert(
      fc.property(record, record, (current, next) => {
        const patch = mergeDiff(current, next);
        const result = patch === undefined ? current : mergePatch(current, JSON.parse(JSON.stringify(patch)));
        expect(withoutNull(result)).toEqual(withoutNull(next));
      }),
    );
  });

  it("CORE-142 finds nothing to change in equal objects", () => {
    fc.assert(
      fc.property(record, (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(mergeDiff(value, reversed)).toBeUndefined();
      }),
    );
  });

  it("sets an empty object where there was none", () => {
    expect(mergeDiff({}, { a: {} })).toEqual({ a: {} });
    expect(mergeDiff({ a: {} }, { a: {} })).toBeUndefined();
    expect(mergeDiff({ a: [1] }, { a: {} })).toEqual({ a: {} });
  });

  it("replaces lists whole and tells numbers from strings", () => {
    expect(mergeDiff({ a: [1, 2], b: 1 }, { a: [1], b: "1" })).toEqual({ a: [1], b: "1" });
  });

  it("counts undefined as absent", () => {
    expect(mergeDiff({ a: 1, b: undefined }, { a: undefined })).toEqual({ a: null });
  });
});

describe("sameJson", () => {
  it("compares JSON values without regard to the order of members", () => {
    expect(sameJson({ a: [1, { b: 2, c: undefined }] }, { a: [1, { b: 2 }] })).toBe(true);
    expect(sameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
    expect(sameJson({ a: null }, {})).toBe(false);
    expect(sameJson([], {})).toBe(false);
    expect(sameJson({ a: 1 }, { b: 1 })).toBe(false);
    expect(sameJson(null, {})).toBe(false);
  });
});

describe("values nested 100 000 deep", () => {
  it("CORE-191 are compared without recursion, and have no merge patch", () => {
    for (const as of ["map", "list"] as const) {
      expect(sameJson(nested(100_000, as), nested(100_000, as))).toBe(true);
      expect(sameJson(nested(100_000, as), nested(100_001, as))).toBe(false);
    }
    expect(() => mergeDiff({}, { a: nested(100_000) })).toThrow(NestingError);
    expect(mergeDiff({ a: nested(100_000) }, { a: 1 })).toEqual({ a: 1 });
    expect(mergeDiff({ a: nested(100_000, "list") }, { a: nested(100_000, "list") })).toBeUndefined();
  });
});
