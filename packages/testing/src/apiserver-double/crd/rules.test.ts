import { expect, it } from "vitest";
import { checkRules, compileRules } from "./rules.ts";

const schema = (rule: object, properties: object = { a: { type: "string" }, n: { type: "integer" } }) => ({
  type: "object",
  properties,
  "x-kubernetes-validations": [rule],
});

it("CORE-469 a rule with a function that the double does not know fails the installation", () => {
  const [cause] = checkRules(schema({ rule: "self.a.nosuchFunction()" }), "spec");
  expect(cause).toMatchObject({
    field: "spec.x-kubernetes-validations[0].rule",
    message: expect.stringContaining("compilation failed"),
  });
});

it.each([["self.a.nosuch == 'x'"], ["self.n + 'x' == 'y'"], ["self.n"], ["self.a =="]])(
  "CORE-469 the rule %s does not compile",
  (rule) => {
    expect(checkRules(schema({ rule }), "spec")).toHaveLength(1);
  },
);

it.each([
  ["self.a.startsWith('x')", { a: "xy" }, { a: "yx" }],
  ["!has(self.n) || self.n > 2", { n: 3 }, { n: 1 }],
  ["self.l.all(e, e.n > 0)", { l: [{ n: 1 }] }, { l: [{ n: 0 }] }],
  ["self.l.map(e, e.n).sum() < 5", { l: [{ n: 1 }, { n: 3 }] }, { l: [{ n: 9 }] }],
  ["self.m.all(k, k != 'x')", { m: { y: "1" } }, { m: { x: "1" } }],
  [
    "self.t < timestamp('2025-01-01T00:00:00Z')",
    { t: "2024-01-01T00:00:00Z" },
    { t: "2026-01-01T00:00:00Z" },
  ],
  ["self.my__dash__field == 'x'", { "my-field": "x" }, { "my-field": "y" }],
  ["self.p == 80 || self.p == 'http'", { p: "http" }, { p: 81 }],
  ["self.a in ['x', 'y']", { a: "x" }, { a: "z" }],
  ["self.a.matches('^[a-z]+$')", { a: "abc" }, { a: "ABC" }],
])("CORE-469 the rule %s holds or not", (rule, good, bad) => {
  const properties = {
    a: { type: "string" },
    n: { type: "integer" },
    l: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
    m: { type: "object", additionalProperties: { type: "string" } },
    t: { type: "string", format: "date-time" },
    "my-field": { type: "string" },
    p: { "x-kubernetes-int-or-string": true },
  };
  const rules = compileRules(schema({ rule, message: "no" }, properties));
  expect(rules.check(good, undefined, "spec")).toEqual([]);
  expect(rules.check(bad, undefined, "spec")).toMatchObject([
    { field: "spec", message: "Invalid value: no" },
  ]);
});

it("CORE-469 reason, fieldPath and messageExpression of a rule", () => {
  const rule = {
    rule: "self.n < 3",
    reason: "FieldValueForbidden",
    fieldPath: ".n",
    messageExpression: "'n is ' + string(self.n)",
  };
  expect(compileRules(schema(rule)).check({ n: 5 }, undefined, "spec")).toEqual([
    { reason: "FieldValueForbidden", message: "Forbidden: n is 5", field: "spec.n" },
  ]);
});

it("CORE-469 a transition rule runs when there is an old value, and not when nothing changed", () => {
  const rules = compileRules(schema({ rule: "self.n >= oldSelf.n", message: "no" }));
  expect(rules.check({ n: 1 }, undefined, "spec")).toEqual([]);
  expect(rules.check({ n: 1 }, { n: 2 }, "spec")).toHaveLength(1);
  expect(rules.check({ n: 2 }, { n: 1 }, "spec")).toEqual([]);
});
