import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type RevisionCase, revisionDifference } from "./replay/index.ts";

const recorded = (name: string): RevisionCase[] =>
  readFileSync(new URL(`./corpus/${name}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

it.each(recorded("revisions"))(
  "DSP-605 DSP-606 the revision $name has the bytes that Kruise wrote",
  (row) => {
    expect(revisionDifference(row)).toBeUndefined();
  },
);
