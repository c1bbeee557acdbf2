import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type DryRunCase, playDryRunCase, type RevisionCase, revisionDifference } from "./replay/index.ts";

const recorded = <T>(name: string): T[] =>
  readFileSync(new URL(`./corpus/${name}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

it.each(recorded<RevisionCase>("revisions"))(
  "DSP-117 DSP-605 DSP-606 the revision $name has the bytes that Kruise wrote",
  (row) => {
    expect(revisionDifference(row)).toBeUndefined();
  },
);

it.each(recorded<DryRunCase>("dry-run"))(
  "DSP-319 DSP-324 admission tells of a template with $name what the API server said of it",
  async (row) => {
    expect(await playDryRunCase(row)).toBeUndefined();
  },
);
