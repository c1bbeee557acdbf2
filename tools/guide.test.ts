/** Code in the guides is code that runs: each block is a region of a file that the tests compile and run. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

interface Block {
  readonly guide: string;
  /** `file#region`, or whatever else stands behind the language. */
  readonly source: string;
  readonly code: string;
}

const blocks: Block[] = readdirSync(new URL("docs/guides/", root)).flatMap((guide) =>
  [...read(`docs/guides/${guide}`).matchAll(/^```(?:ts|typescript)\b *(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, source = "", code = ""]) => ({ guide, source, code }),
  ),
);

/** Lines between `// #region name` and the next `// #endregion`, moved to the left margin. */
function regionOf(path: string, name: string): string {
  const lines = read(path).split("\n");
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  if (start < 0) throw new Error(`${path} has no region ${name}`);
  const end = lines.findIndex((line, index) => index > start && line.trim() === "// #endregion");
  const inside = lines.slice(start + 1, end);
  const margin = Math.min(...inside.filter((line) => line !== "").map((line) => line.search(/\S/)));
  return inside.map((line) => `${line.slice(margin)}\n`).join("");
}

describe("guides", () => {
  it("show code", () => {
    expect(blocks.map(({ guide }) => guide)).toContain("write-a-controller.md");
  });

  it.each(blocks)("$guide shows $source as it is", ({ source, code }) => {
    const [path = "", region = ""] = source.split("#");
    expect(code).toBe(regionOf(path, region));
  });

  it("show every region of the guide's controller", () => {
    const shown = blocks.map(({ source }) => source);
    for (const path of ["e2e/guide/api.ts", "e2e/guide/greeting.ts", "e2e/guide/greeting.scenario.ts"]) {
      for (const [, name] of read(path).matchAll(/\/\/ #region (\w+)/g)) {
        expect(shown).toContain(`${path}#${name}`);
      }
    }
  });
});
