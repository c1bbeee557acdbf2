/** Plays the cases that Go's text/template was measured with, with the functions of confd 0.16. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playTemplate, type TemplateCase } from "./template-case.ts";

const read = (file: string): TemplateCase[] =>
  readFileSync(new URL(`corpus/${file}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TemplateCase);

/** How many cases a file holds, how many of them end while they are parsed, and how many while they are executed. */
const FILES = [
  { file: "go-template.jsonl", all: 400, parse: 18, exec: 83 },
  { file: "go-template-edges.jsonl", all: 899, parse: 180, exec: 403 },
];

describe.each(FILES)("$file", ({ file, all, parse, exec }) => {
  const cases = read(file);

  it("holds the cases that were measured", () => {
    expect(cases).toHaveLength(all);
    expect(cases.filter(({ stage }) => stage === "exec")).toHaveLength(exec);
    expect(cases.filter(({ stage }) => stage === "parse")).toHaveLength(parse);
  });

  it.each(cases)("$name", (measured) => {
    const { output, stage, error } = measured;
    expect(playTemplate(measured)).toEqual(stage === undefined ? { output } : { stage, error });
  });
});
