import type { LabelSelector } from "@quartet/core/kinds";
import { expect, it } from "vitest";
import { selectorText } from "./selector.ts";

it("NACOS-922 writes a selector as the API takes it", () => {
  expect(selectorText({ matchLabels: { app: "demo", "a.io/b": "c" } })).toBe("app=demo,a.io/b=c");
  const expressions: LabelSelector = {
    matchExpressions: [
      { key: "a", operator: "In", values: ["x", "y"] },
      { key: "b", operator: "NotIn", values: ["z"] },
      { key: "c", operator: "Exists" },
      { key: "d", operator: "DoesNotExist" },
    ],
  };
  expect(selectorText(expressions)).toBe("a in (x,y),b notin (z),c,!d");
  expect(selectorText(undefined)).toBe("");
});
