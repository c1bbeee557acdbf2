import { expect, it } from "vitest";
import { canonicalQuantity } from "./canonical-quantity.ts";

it.each([
  ["1000m", "1"],
  ["0.1", "100m"],
  [2, "2"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["1500Mi", "1500Mi"],
  ["0.5Ki", "512"],
  ["129e6", "129e6"],
  ["1000e6", "1e9"],
  ["1E", "1E"],
  ["1000", "1k"],
  ["1500", "1500"],
  ["0", "0"],
  ["0Gi", "0"],
  ["-1000m", "-1"],
  ["1.0000000001", "1000000001n"],
  ["abc", undefined],
])("DSP-605 %s is written %s, as the server does", (text, expected) => {
  expect(canonicalQuantity(text)).toBe(expected);
});
