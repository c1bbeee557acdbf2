import { expect, it } from "vitest";
import { compileJsonPath } from "./json-path.ts";

const object = {
  spec: {
    replicas: 3,
    "odd-name": "x",
    labels: { "a.b/c": "dotted" },
    list: [
      { name: "a", n: 1 },
      { name: "b", n: 2 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

it.each([
  [".spec.replicas", [3]],
  ["{.spec.replicas}", [3]],
  [".spec.odd-name", ["x"]],
  [".spec.labels['a.b/c']", ["dotted"]],
  [".spec.labels.a\\.b/c", undefined],
  [".spec.list[0].name", ["a"]],
  [".spec.list[-1].name", ["b"]],
  [".spec.list[*].n", [1, 2]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type != 'Ready')].status", ["False"]],
  [".spec.nothing.here", []],
  [".spec[?]", undefined],
])("%s", (path, wanted) => {
  expect(compileJsonPath(path)?.(object)).toEqual(wanted);
});
