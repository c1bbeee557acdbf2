import { describe, expect, it } from "vitest";
import { compileSelector, selectorMistakes } from "./selector.ts";

const matches = (selector: object, labels: Record<string, string>): boolean =>
  compileSelector(selector)!(labels);
const expression = (key: string, operator: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

describe("label selectors", () => {
  it("DSP-502 matchLabels and matchExpressions are ANDed, with the meaning of each operator for an absent key", () => {
    const both = { matchLabels: { a: "1" }, ...expression("b", "Exists") };
    expect(matches(both, { a: "1", b: "" })).toBe(true);
    expect(matches(both, { a: "1" })).toBe(false);
    expect(matches(both, { b: "2" })).toBe(false);
    const table: [string, string[] | undefined, boolean, boolean, boolean][] = [
      // operator, values; result for the value x, the value y, and no such label
      ["In", ["x"], true, false, false],
      ["NotIn", ["x"], false, true, true],
      ["Exists", undefined, true, true, false],
      ["DoesNotExist", undefined, false, false, true],
    ];
    for (const [operator, values, x, y, absent] of table) {
      const results = [{ k: "x" }, { k: "y" }, {}].map((labels) =>
        matches(expression("k", operator, values), labels as Record<string, string>),
      );
      expect([operator, ...results]).toEqual([operator, x, y, absent]);
    }
  });

  it("DSP-501 DSP-503 a node without labels is matched by an empty selector, an absent selector matches nothing", () => {
    expect(matches({}, {})).toBe(true);
    expect(compileSelector(undefined)!({ a: "1" })).toBe(false);
    expect(compileSelector(null)!({})).toBe(false);
  });

  it("DSP-504 a selector with a mistake is not compiled", () => {
    expect(compileSelector(expression("k", "In"))).toBeUndefined();
    expect(compileSelector(expression("k", "Like", ["x"]))).toBeUndefined();
  });

  it("DSP-304 each mistake is named at its path", () => {
    const mistakes = (selector: unknown): string[] => selectorMistakes(selector).map(({ path }) => path);
    expect(mistakes({ matchLabels: { "a b": "1", a: "b c" } })).toEqual([
      ".matchLabels",
      '.matchLabels["a"]',
    ]);
    expect(mistakes(expression("k", "In"))).toEqual([".matchExpressions[0].values"]);
    expect(mistakes(expression("k", "Exists", ["x"]))).toEqual([".matchExpressions[0].values"]);
    expect(mistakes(expression("k", "in", ["x"]))).toEqual([".matchExpressions[0].operator"]);
    expect(mistakes(expression("-k", "In", ["x", "-"]))).toEqual([
      ".matchExpressions[0].key",
      ".matchExpressions[0].values[1]",
    ]);
    expect(mistakes({ matchLabel: {} })).toEqual([".matchLabel"]);
    expect(mistakes([])).toEqual([""]);
  });

  it("DSP-370 keys that JavaScript gives a meaning are labels like others", () => {
    expect(matches(expression("constructor", "Exists"), {})).toBe(false);
    expect(matches({ matchLabels: { toString: "x" } }, JSON.parse('{"toString":"x"}'))).toBe(true);
    expect(matches(expression("hasOwnProperty", "DoesNotExist"), {})).toBe(true);
  });

  it.each([
    ["app.kubernetes.io/name", true],
    ["a", true],
    ["a/b/c", false],
    ["/a", false],
    ["a/", false],
    ["Example.com/a", false],
    [`${"a".repeat(64)}`, false],
    [`${"a".repeat(63)}`, true],
    [`${"a".repeat(64)}.com/a`, false],
    ["a.", false],
  ])("DSP-304 key %s: %s", (key, valid) => {
    expect(selectorMistakes({ matchLabels: { [key]: "" } })).toHaveLength(valid ? 0 : 1);
  });
});
