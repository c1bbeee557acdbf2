/** Plays the cases that Go's text/template was measured with, with the functions of confd 0.16. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playTemplate, type TemplateCase } from "./template-case.ts";

const CASES: TemplateCase[] = readFileSync(new URL("corpus/go-template.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as TemplateCase);

describe("corpus", () => {
  it("holds the cases that were measured", () => {
    expect(CASES).toHaveLength(400);
    expect(CASES.filter(({ stage }) => stage === "exec")).toHaveLength(83);
    expect(CASES.filter(({ stage }) => stage === "parse")).toHaveLength(18);
  });

  it.each(CASES)("$name", (measured) => {
    const { output, stage, error } = measured;
    expect(playTemplate(measured)).toEqual(stage === undefined ? { output } : { stage, error });
  });
});
