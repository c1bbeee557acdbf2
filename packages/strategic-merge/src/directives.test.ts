import { describe, expect, it } from "vitest";
import { deepFreeze } from "../test/freeze.ts";
import { strategicMerge } from "./index.ts";
import type { JsonMap } from "./json.ts";

const merge = (original: JsonMap, patch: JsonMap): JsonMap =>
  strategicMerge<JsonMap>("PodTemplateSpec", deepFreeze(original), deepFreeze(patch));

describe("content that is new to the original", () => {
  it("DSP-406 loses its nulls at every depth, those inside atomic lists too", () => {
    const affinity = {
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: null }] },
    };
    expect(merge({}, { spec: { affinity, nodeName: null } })).toEqual({
      spec: {
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] } },
      },
    });
  });

  it("DSP-406 loses a null directive before it could act", () => {
    const securityContext = { $patch: null, fsGroup: 1 };
    expect(merge({}, { spec: { securityContext } })).toEqual({ spec: { securityContext: { fsGroup: 1 } } });
  });

  it("DSP-407 takes the patch's value where the JSON types differ", () => {
    expect(merge({ spec: { hostname: { a: "b" } } }, { spec: { hostname: "x" } })).toEqual({
      spec: { hostname: "x" },
    });
    expect(merge({ spec: { tolerations: "x" } }, { spec: { tolerations: [{ key: "k" }] } })).toEqual({
      spec: { tolerations: [{ key: "k" }] },
    });
  });

  it("DSP-409 DSP-437 holds no null in the end, wherever the merge keeps one for a while", () => {
    const replaced = { $patch: "replace", runAsUser: null, fsGroup: 1 };
    const added = { name: "n", image: null, env: [{ name: "E", value: null }] };
    const result = merge(
      { spec: { securityContext: { runAsUser: 1 }, containers: [{ name: "a" }] } },
      { spec: { securityContext: replaced, containers: [added] } },
    );
    expect(result).toEqual({
      spec: {
        securityContext: { fsGroup: 1 },
        containers: [{ name: "n", env: [{ name: "E" }] }, { name: "a" }],
      },
    });
  });

  it("DSP-437 holds no key that begins with $", () => {
    const added = { name: "n", "$setElementOrder/env": [{ name: "E" }], $retainKeys: ["name"], $mine: 1 };
    expect(merge({ spec: { containers: [{ name: "a" }] } }, { spec: { containers: [added] } })).toEqual({
      spec: { containers: [{ name: "n" }, { name: "a" }] },
    });
  });

  it("DSP-438 holds no item that is marked with $patch", () => {
    const added = { name: "n", env: [{ name: "Q", $patch: "delete" }, { name: "E" }] };
    expect(merge({ spec: { containers: [{ name: "a" }] } }, { spec: { containers: [added] } })).toEqual({
      spec: { containers: [{ name: "n", env: [{ name: "E" }] }, { name: "a" }] },
    });
  });

  it("DSP-419 DSP-422 takes a marked item of a list that the original lacks for nothing", () => {
    const containers = [{ name: "a" }];
    const initContainers = [{ $patch: "replace" }, { name: "i" }, { name: "q", $patch: "delete" }];
    expect(merge({ spec: { containers } }, { spec: { initContainers } })).toEqual({
      spec: { containers, initContainers: [{ name: "i" }] },
    });
  });
});

describe("evaluation inside one map", () => {
  it("DSP-428 $patch ends the processing of its map", () => {
    const patch = {
      $patch: "replace",
      $retainKeys: "not even a list",
      "$setElementOrder/nope": 1,
      fsGroup: 2,
    };
    expect(
      merge({ spec: { securityContext: { runAsUser: 1 } } }, { spec: { securityContext: patch } }),
    ).toEqual({
      spec: { securityContext: { fsGroup: 2 } },
    });
  });

  it("DSP-428 $retainKeys comes before the lists, and they before what is removed from them", () => {
    const patch = {
      "$deleteFromPrimitiveList/args": ["b"],
      "$setElementOrder/args": ["c", "b", "a"],
      $retainKeys: ["name", "args"],
      name: "a",
      args: ["c", "b", "a"],
    };
    const original = { name: "a", image: "i", args: ["z"] };
    expect(merge({ spec: { containers: [original] } }, { spec: { containers: [patch] } })).toEqual({
      spec: { containers: [{ name: "a", args: ["c", "a"] }] },
    });
  });

  it("DSP-424 lets the patch set null for a key that is not retained", () => {
    const patch = { name: "v", $retainKeys: ["name", "hostPath"], emptyDir: null, hostPath: { path: "/" } };
    expect(
      merge({ spec: { volumes: [{ name: "v", emptyDir: {} }] } }, { spec: { volumes: [patch] } }),
    ).toEqual({
      spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] },
    });
  });
});

describe("keys as data", () => {
  it("DSP-440 takes __proto__ for a key like any other", () => {
    const labels = JSON.parse('{"__proto__": "x", "constructor": "y"}') as JsonMap;
    const patch = JSON.parse(
      '{"metadata": {"labels": {"__proto__": "z", "toString": "w"}, "__proto__": {"polluted": 1}}}',
    );
    const result = merge({ metadata: { labels } }, patch);
    expect(JSON.stringify(result)).toBe(
      '{"metadata":{"labels":{"__proto__":"z","constructor":"y","toString":"w"},"__proto__":{"polluted":1}}}',
    );
    expect(({} as JsonMap).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(result.metadata)).toBe(Object.prototype);
  });

  it("DSP-440 removes and adds a key that every object inherits", () => {
    const removed = merge(
      { metadata: { labels: { a: "b" } } },
      { metadata: { labels: { valueOf: null, toString: "x" } } },
    );
    expect(JSON.stringify(removed)).toBe('{"metadata":{"labels":{"a":"b","toString":"x"}}}');
  });
});
