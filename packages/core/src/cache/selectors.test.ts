import { describe, expect, it } from "vitest";
import { thing } from "./fixtures.testkit.ts";
import { createMatcher, hasLabels } from "./selectors.ts";

const object = thing("x", {
  metadata: { labels: { app: "web", tier: "front", empty: "" } },
  spec: { text: "hello" },
});

describe("selectors", () => {
  it.each([
    ["app=web", true],
    ["app==web", true],
    ["app = api", false],
    ["app!=api", true],
    ["absent!=api", true],
    ["app", true],
    ["absent", false],
    ["!absent", true],
    ["! app", false],
    ["app in (web, api)", true],
    ["app in (api)", false],
    ["absent in (web)", false],
    ["app notin (api,db)", true],
    ["absent notin (api)", true],
    ["app=web,tier in (front,back),!absent", true],
    ["app=web,tier in (back,side)", false],
    ["empty=", true],
    ["", true],
  ])("labels %s: %s", (labelSelector, expected) => {
    expect(createMatcher({ labelSelector })(object)).toBe(expected);
  });

  it.each([
    ["metadata.name=x", true],
    ["metadata.name!=x", false],
    ["metadata.namespace=a,spec.text=hello", true],
    ["spec.absent.deep=", true],
    ["spec.absent!=v", true],
    ["status.phase=Running", false],
  ])("fields %s: %s", (fieldSelector, expected) => {
    expect(createMatcher({ fieldSelector })(object)).toBe(expected);
  });

  it("name what they cannot read", () => {
    expect(() => createMatcher({ labelSelector: "app gt 5" })).toThrow('cannot read "app gt 5"');
    expect(() => createMatcher({ fieldSelector: "metadata.name" })).toThrow('cannot read "metadata.name"');
  });

  it("compare single labels", () => {
    expect(hasLabels(object, { app: "web", tier: "front" })).toBe(true);
    expect(hasLabels(object, { app: "web", tier: "back" })).toBe(false);
    expect(hasLabels(thing("bare"), { app: "web" })).toBe(false);
    expect(hasLabels(thing("bare"), {})).toBe(true);
  });
});
