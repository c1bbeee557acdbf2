import fc from "fast-check";
import { expect, it } from "vitest";
import { microTime } from "./micro-time.ts";

it.each([
  [Date.UTC(2026, 0, 2, 3, 4, 5), "2026-01-02T03:04:05.000000Z"],
  [Date.UTC(2026, 0, 2, 3, 4, 5, 60), "2026-01-02T03:04:05.060000Z"],
  [Date.UTC(2026, 0, 2, 3, 4, 5) + 0.25, "2026-01-02T03:04:05.000250Z"],
  [Date.UTC(2026, 0, 2, 3, 4, 5, 999) + 0.9999, "2026-01-02T03:04:06.000000Z"],
  [-1, "1969-12-31T23:59:59.999000Z"],
])("CORE-135 writes %d with exactly six fraction digits", (ms, text) => {
  expect(microTime(ms)).toBe(text);
});

it("CORE-135 loses no millisecond", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 4e12 }), (ms) => {
      const text = microTime(ms);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(Date.parse(text)).toBe(ms);
    }),
  );
});
