import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Drawing, objects, patches, RUNS, TELLING_FIELDS } from "../test/arbitraries.ts";
import { deepFreeze } from "../test/freeze.ts";
import { type JsonMap, StrategicMergeError, strategicMerge } from "./index.ts";

const TAME: Drawing = { fields: TELLING_FIELDS, wild: false };
const WILD: Drawing = { fields: TELLING_FIELDS, wild: true };

/** The outcome as text: the result, or the error. */
function outcome(type: string, original: JsonMap, patch: JsonMap): string {
  try {
    return JSON.stringify(strategicMerge(type, original, patch));
  } catch (error) {
    if (error instanceof StrategicMergeError) return `${error.problem} ${error.message}`;
    throw error;
  }
}

describe.each(["PodTemplateSpec", "apps.v1.Deployment", "Service", "Node"])(
  "strategicMerge of %s",
  (type) => {
    it("DSP-430 alters neither argument and repeats itself byte for byte, malformed patches included", () => {
      fc.assert(
        fc.property(objects(type, WILD), patches(type, WILD), (original, patch) => {
          const first = outcome(type, deepFreeze(original), deepFreeze(patch));
          expect(outcome(type, structuredClone(original), structuredClone(patch))).toBe(first);
        }),
        RUNS,
      );
    });

    it("DSP-430 shares nothing with its arguments", () => {
      fc.assert(
        fc.property(objects(type, TAME), objects(type, TAME), (original, patch) => {
          const before = JSON.stringify([original, patch]);
          scribble(strategicMerge(type, original, patch));
          expect(JSON.stringify([original, patch])).toBe(before);
        }),
        RUNS,
      );
    });

    it("DSP-437 leaves no null in a map and no directive", () => {
      fc.assert(
        fc.property(objects(type, WILD), patches(type, WILD), (original, patch) => {
          const text = outcome(type, original, patch);
          if (text.startsWith("{")) expect(text).not.toMatch(/"\$|:null/);
        }),
        RUNS,
      );
    });

    it("changes nothing with an empty patch", () => {
      fc.assert(
        fc.property(objects(type, TAME), (original) => {
          expect(strategicMerge(type, original, {})).toEqual(original);
        }),
        RUNS,
      );
    });
  },
);

describe("a stack of patches", () => {
  it("DSP-431 is folded: a later patch sees what an earlier one did", () => {
    const base = { spec: { containers: [{ name: "a", env: [{ name: "A", value: "1" }] }] } };
    const stack = [
      { spec: { containers: [{ name: "a", env: [{ name: "B", value: "2" }] }] } },
      {
        spec: {
          containers: [
            {
              name: "a",
              env: [
                { name: "B", $patch: "delete" },
                { name: "A", value: "3" },
              ],
            },
          ],
        },
      },
      { spec: { containers: [{ name: "a", $retainKeys: ["name", "env"] }] } },
    ];
    const folded = stack.reduce(
      (original, patch) => strategicMerge("PodTemplateSpec", original, patch),
      base,
    );
    expect(folded).toEqual({ spec: { containers: [{ name: "a", env: [{ name: "A", value: "3" }] }] } });
  });
});

describe("odd arguments", () => {
  it("takes null and absent for an empty object", () => {
    expect(strategicMerge<unknown>("Pod", null, { kind: "Pod" })).toEqual({ kind: "Pod" });
    expect(strategicMerge<unknown>("Pod", { kind: "Pod" }, undefined)).toEqual({ kind: "Pod" });
  });

  it("refuses a type that the table does not hold", () => {
    expect(() => strategicMerge("Widget", {}, {})).toThrow("there is no type Widget");
  });

  it("refuses to merge maps inside a free map, as the API server does", () => {
    const original = { metadata: { labels: { a: { b: "c" } } } };
    expect(() => strategicMerge("Pod", original, structuredClone(original))).toThrow(
      "metadata.labels.a: cannot be merged",
    );
  });
});

describe("the engine", () => {
  it("DSP-432 imports nothing from outside its package and does nothing in the background", () => {
    const folder = new URL(".", import.meta.url);
    const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test."));
    expect(sources).toContain("merge.ts");
    for (const name of sources) {
      const text = readFileSync(new URL(name, folder), "utf8");
      const imported = [...text.matchAll(/from "([^"]+)"/g)].map((match) => match[1]!);
      expect(imported.filter((path) => !path.startsWith("./"))).toEqual([]);
      expect(text).not.toMatch(/\basync\b|\bawait\b|\bfetch\(|\bsetTimeout\(|\bimport\(/);
    }
  });
});

/** Writes into every map and list of a value. */
function scribble(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) scribble(member);
  if (Array.isArray(value)) value.push("scribble");
  else (value as Record<string, unknown>).scribble = true;
}
