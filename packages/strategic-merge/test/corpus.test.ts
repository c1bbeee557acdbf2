/** Plays the cases that the strategic merge of the API server's own library was measured with. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { strategicMerge } from "../src/index.ts";
import { deepFreeze } from "./freeze.ts";

interface Case {
  name: string;
  base: object;
  patch: object;
  result?: object;
  error?: string;
}

const CASES: Case[] = readFileSync(new URL("corpus/strategic-merge.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Case);

describe("corpus", () => {
  it("holds the cases that were measured", () => {
    expect(CASES).toHaveLength(396);
    expect(CASES.filter((measured) => measured.error !== undefined)).toHaveLength(15);
  });

  it.each(CASES)("$name", ({ base, patch, result, error }) => {
    const merge = (): object => strategicMerge("PodTemplateSpec", deepFreeze(base), deepFreeze(patch));
    if (error !== undefined) expect(merge).toThrow();
    else expect(merge()).toEqual(result);
  });
});
