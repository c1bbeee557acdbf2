import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { objects, RUNS, TELLING_FIELDS } from "../test/arbitraries.ts";
import { deepFreeze } from "../test/freeze.ts";
import { type JsonMap, threeWayMerge } from "./index.ts";

const TAME = { fields: TELLING_FIELDS, wild: false };

const merge = (original: JsonMap, modified: JsonMap, current: JsonMap): JsonMap =>
  threeWayMerge<JsonMap>("PodTemplateSpec", {
    original: deepFreeze(original),
    modified: deepFreeze(modified),
    current: deepFreeze(current),
  });

/** A template whose one container is given in part. */
const container = (fragment: JsonMap): JsonMap => ({ spec: { containers: [{ name: "n", ...fragment }] } });
const carried = (original: JsonMap, modified: JsonMap, current: JsonMap): JsonMap => {
  const { spec } = merge(container(original), container(modified), container(current));
  const [{ name, ...rest }] = (spec as { containers: [JsonMap] }).containers;
  return rest;
};
const env = (...pairs: string[]): JsonMap => ({
  env: pairs.map((pair) => ({ name: pair.split("=")[0]!, value: pair.split("=")[1]! })),
});

describe("threeWayMerge", () => {
  it("leaves the live object alone when nothing changed", () => {
    fc.assert(
      fc.property(objects("PodTemplateSpec", TAME), objects("PodTemplateSpec", TAME), (wanted, live) => {
        expect(merge(wanted, structuredClone(wanted), live)).toEqual(live);
      }),
      RUNS,
    );
  });

  it("arrives at what is wanted when nobody else touched the live object", () => {
    fc.assert(
      fc.property(
        objects("PodTemplateSpec", TAME),
        objects("PodTemplateSpec", TAME),
        (original, modified) => {
          expect(withoutOrder(merge(original, modified, structuredClone(original)))).toEqual(
            withoutOrder(modified),
          );
        },
      ),
      RUNS,
    );
  });

  it("changes nothing when it runs once more", () => {
    fc.assert(
      fc.property(
        objects("PodTemplateSpec", TAME),
        objects("PodTemplateSpec", TAME),
        objects("PodTemplateSpec", TAME),
        (original, modified, live) => {
          const once = merge(original, modified, live);
          expect(merge(modified, modified, once)).toEqual(once);
        },
      ),
      RUNS,
    );
  });

  it("brings a changed value and leaves the rest of the live container", () => {
    expect(
      carried(
        { image: "1", livenessProbe: { periodSeconds: 5 }, command: ["a"] },
        { image: "2", livenessProbe: { periodSeconds: 5 }, command: ["a"] },
        { image: "1", command: ["a", "extra"], terminationMessagePath: "/x" },
      ),
    ).toEqual({ image: "2", command: ["a", "extra"], terminationMessagePath: "/x" });
  });

  it("keeps the order and the doubles of a live list", () => {
    expect(carried(env("B=1", "A=1"), env("B=1", "A=2", "C=3"), env("A=1", "A=9", "B=7", "Z=0"))).toEqual(
      env("A=2", "C=3", "A=9", "B=7", "Z=0"),
    );
  });

  it("places a new item in front of what follows it when it follows nothing", () => {
    expect(carried(env("B=1"), env("A=1", "B=1"), env("Z=0", "B=1"))).toEqual(env("Z=0", "A=1", "B=1"));
    expect(carried(env(), env("A=1"), env("Z=0"))).toEqual(env("Z=0", "A=1"));
  });

  it("does not bring back an unchanged item that the live list lacks, but a changed one as a whole", () => {
    const probe = { name: "B", valueFrom: { fieldRef: { fieldPath: "x" } } };
    const changed = { name: "B", valueFrom: { fieldRef: { fieldPath: "y" } } };
    const probeAnd = (list: JsonMap): JsonMap => ({ env: [probe, ...(list.env as JsonMap[])] });
    expect(carried(probeAnd(env("A=1")), probeAnd(env("A=2")), env("A=1"))).toEqual(env("A=2"));
    expect(carried({ env: [probe] }, { env: [changed] }, env("A=1"))).toEqual({
      env: [...(env("A=1").env as []), changed],
    });
  });

  it("removes what is no longer wanted, and what others added stays", () => {
    const annotations = (...keys: string[]): JsonMap => ({
      metadata: { annotations: Object.fromEntries(keys.map((key) => [key, "x"])) },
    });
    expect(merge(annotations("mine"), {}, annotations("mine", "theirs"))).toEqual({});
    expect(merge(annotations("mine"), { metadata: {} }, annotations("mine", "theirs"))).toEqual(
      annotations("theirs"),
    );
    expect(merge(annotations("mine"), { metadata: {} }, annotations("mine"))).toEqual({ metadata: {} });
    expect(carried(env("A=1"), {}, env("A=1", "Z=0"))).toEqual(env("Z=0"));
    expect(carried(env("A=1"), {}, env("A=1"))).toEqual({});
  });

  it("removes a probe as a whole, with the defaults that the API server added", () => {
    const live = { livenessProbe: { httpGet: { port: 1, scheme: "HTTP" }, timeoutSeconds: 1 } };
    expect(carried({ livenessProbe: { httpGet: { port: 1 } } }, {}, live)).toEqual({});
  });

  it("swaps the source of a volume, whatever the live one holds", () => {
    const volume = (source: JsonMap): JsonMap => ({ spec: { volumes: [{ name: "v", ...source }] } });
    expect(
      merge(
        volume({ emptyDir: {} }),
        volume({ hostPath: { path: "/" } }),
        volume({ configMap: { name: "theirs" } }),
      ),
    ).toEqual(volume({ hostPath: { path: "/" } }));
  });

  it("replaces an atomic list that changed, and only then", () => {
    const tolerations = (...keys: string[]): JsonMap => ({
      spec: { tolerations: keys.map((key) => ({ key })) },
    });
    expect(merge(tolerations("a"), tolerations("b"), tolerations("theirs"))).toEqual(tolerations("b"));
    expect(merge(tolerations("a"), tolerations("a"), tolerations("theirs"))).toEqual(tolerations("theirs"));
  });

  it("adds to and removes from the live finalizers", () => {
    const finalizers = (...list: string[]): JsonMap => ({ metadata: { finalizers: list } });
    expect(merge(finalizers("a", "b"), finalizers("b", "c"), finalizers("z", "b", "a"))).toEqual(
      finalizers("z", "b", "c"),
    );
  });

  it("works on other types", () => {
    const ports = (...list: JsonMap[]): JsonMap => ({ spec: { ports: list } });
    expect(
      threeWayMerge("Service", {
        original: ports({ port: 1, name: "a" }),
        modified: ports({ port: 1, name: "b" }),
        current: ports({ port: 1, name: "a", nodePort: 30000 }, { port: 2 }),
      }),
    ).toEqual(ports({ port: 1, name: "b", nodePort: 30000 }, { port: 2 }));
  });
});

/** The value with the items of every list sorted: order alone is not carried over. */
function withoutOrder(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(withoutOrder).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withoutOrder(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
