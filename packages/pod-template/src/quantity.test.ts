import { describe, expect, it } from "vitest";
import { compareQuantities, isQuantity } from "./quantity.ts";

describe("quantities", () => {
  it.each([
    ["1024Mi", "1Gi"],
    ["1", "1000m"],
    ["0.1", "100m"],
    [2, "2"],
    ["1e3", "1k"],
    ["1.5Gi", "1536Mi"],
    ["+5", "5."],
    ["9007199254740993", "9007199254740993000m"],
  ])("NACOS-407 counts %s and %s as equal", (a, b) => {
    expect(compareQuantities(a, b)).toBe(0);
  });

  it("orders sizes exactly, beyond what a double holds", () => {
    expect(compareQuantities("1Gi", "2Gi")).toBe(-1);
    expect(compareQuantities("8Ei", "9223372036854775807")).toBe(1);
    expect(compareQuantities("-1", "1n")).toBe(-1);
  });

  it.each(["10Gb!", "", "Gi", "1 Gi", "1KiB", "e3", undefined, null, {}])("NACOS-110 refuses %j", (text) => {
    expect(isQuantity(text)).toBe(false);
    expect(compareQuantities(text, "1")).toBeUndefined();
  });
});
