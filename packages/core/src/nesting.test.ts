import { describe, expect, it } from "vitest";
import { isTooDeep, MAX_NESTING } from "./nesting.ts";
import { nested } from "./testkit/nested.ts";

describe("isTooDeep", () => {
  it("CORE-191 tells by the number of levels, of maps and lists alike", () => {
    for (const as of ["map", "list"] as const) {
      expect(isTooDeep(nested(MAX_NESTING, as))).toBe(false);
      expect(isTooDeep(nested(MAX_NESTING + 1, as))).toBe(true);
      expect(isTooDeep(nested(100_000, as))).toBe(true);
    }
    expect(isTooDeep("text")).toBe(false);
    expect(isTooDeep({ wide: Array.from({ length: 10_000 }, () => ({})) })).toBe(false);
  });
});
