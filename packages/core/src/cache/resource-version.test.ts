import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareVersions, isComparable, laterVersion, versionGauge } from "./resource-version.ts";

describe("resource versions", () => {
  it("CORE-186 order by length, then by digits, also beyond 2^53", () => {
    expect(compareVersions("9", "10")).toBeLessThan(0);
    expect(compareVersions("11", "10")).toBeGreaterThan(0);
    expect(compareVersions("18446744073709551615", "18446744073709551614")).toBeGreaterThan(0);
    expect(compareVersions("7", "7")).toBe(0);
  });

  it("CORE-186 of any other form are not comparable", () => {
    for (const odd of ["", "0", "007", "1a", "-1", "1.0", " 1", "１"]) {
      expect(isComparable(odd), odd).toBe(false);
      expect(compareVersions(odd, "5"), odd).toBeUndefined();
      expect(compareVersions("5", odd), odd).toBeUndefined();
    }
    expect(compareVersions(undefined, "5")).toBeUndefined();
  });

  it("CORE-186 order like the integers that they spell", () => {
    const version = fc.bigInt({ min: 1n, max: 2n ** 70n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const order = compareVersions(String(a), String(b)) ?? Number.NaN;
        expect(Math.sign(order)).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it("the later version never goes back, unless the order is unknown", () => {
    expect(laterVersion("10", "9")).toBe("10");
    expect(laterVersion("9", "10")).toBe("10");
    expect(laterVersion(undefined, "3")).toBe("3");
    expect(laterVersion("10", "x3")).toBe("x3");
  });

  it("a gauge gets the last 15 digits", () => {
    expect(versionGauge("1234567890123456789")).toBe(567890123456789);
    expect(versionGauge("42")).toBe(42);
    expect(versionGauge("abc")).toBe(0);
    expect(versionGauge(undefined)).toBe(0);
  });
});
