import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { microTime } from "./micro-time.ts";

describe("MicroTime", () => {
  it("CORE-135 writes exactly six fraction digits", () => {
    expect(microTime(Date.UTC(2026, 0, 2, 3, 4, 5, 60))).toBe("2026-01-02T03:04:05.060000Z");
    expect(microTime(Date.UTC(2026, 0, 2) + 0.25)).toBe("2026-01-02T00:00:00.000250Z");
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4e12, noNaN: true }), (ms) => {
        expect(microTime(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(Date.parse(microTime(ms))).toBe(Math.floor(ms));
      }),
    );
  });
});
