import * as fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalQuantity, compareQuantities } from "./quantity.ts";

it.each([
  ["1024Mi", "1Gi"],
  ["1000m", "1"],
  ["0.5", "500m"],
  ["1.5Gi", "1536Mi"],
  ["1500M", "1500M"],
  ["1e3", "1e3"],
  ["1E", "1E"],
  ["0.5Ki", "512"],
  ["100u", "100u"],
  ["0", "0"],
  ["-1", "-1"],
  [" 5 ", "5"],
])("a quantity %s is printed as %s", (given, wanted) => {
  expect(canonicalQuantity(given)).toBe(wanted);
});

it.each(["", "abc", "1Xi", "1.2.3", "--1", "1 Gi", "Gi"])("%j is no quantity", (given) => {
  expect(canonicalQuantity(given)).toBeUndefined();
});

it("entries of resource lists are rounded up to a thousandth", () => {
  expect(canonicalQuantity("100u", true)).toBe("1m");
  expect(canonicalQuantity("1.0000000001", true)).toBe("1001m");
  expect(canonicalQuantity("0.1Mi", true)).toBe("104857600m");
});

it("printing is stable and keeps the value", () => {
  const suffix = fc.constantFrom("", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3");
  const quantity = fc
    .tuple(fc.integer({ min: -100_000, max: 100_000 }), suffix)
    .map(([n, unit]) => `${n}${unit}`);
  void fc.assert(
    fc.property(quantity, (text) => {
      const once = canonicalQuantity(text)!;
      expect(canonicalQuantity(once)).toBe(once);
      expect(compareQuantities(text, once)).toBe(0);
    }),
  );
});
