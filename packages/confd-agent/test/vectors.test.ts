/** The vectors of docs/specs/confd.md, section 7.6, as they stand there. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playTemplate } from "./template-case.ts";

const STORE = {
  "/a": "1",
  "/a/b": "2",
  "/a/c/d": "3",
  "/app": "x",
  "/z/10": "ten",
  "/z/9": "nine",
  "/srv/bb/x": "1",
  "/srv/a/x": "2",
  "/srv/leaf": "v",
};
const readable = (text: string): string =>
  text.replaceAll("⏎", "\n").replaceAll("⇥", "\t").replaceAll("␍", "\r");

interface Vector {
  template: string;
  expected: string;
  fails: boolean;
}

const spec = readFileSync(new URL("../../../docs/specs/confd.md", import.meta.url), "utf8");
const [, section = ""] = spec.split("### 7.6 ");
const [, block = ""] = section.split(/```(?:text\n)?/);
const VECTORS: Vector[] = block
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [, template = "", sign, expected = ""] = /^(.*?) *(=>|!!) {1,2}(.*)$/.exec(line) ?? [];
    return { template: readable(template), expected: readable(expected), fails: sign === "!!" };
  });

/** An expected error: its parts in order, anything where `...` stands. */
function containsInOrder(text: string, expected: string): boolean {
  let at = 0;
  for (const part of expected.split("...")) {
    const found = text.indexOf(part.trim(), at);
    if (found === -1) return false;
    at = found + part.trim().length;
  }
  return true;
}

describe("CONFD-VEC-1 conformance vectors", () => {
  it("CONFD-VEC-1 are all there", () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(104);
  });

  it.each(VECTORS)("CONFD-VEC-1 $template", ({ template, expected, fails }) => {
    const outcome = playTemplate({ store: STORE, template });
    if (!fails) expect(outcome).toEqual({ output: expected.replace(/ \(G\)$/, "") });
    else {
      const found = containsInOrder(outcome.error ?? "", expected);
      expect({ found, outcome }).toEqual({ found: true, outcome });
    }
  });
});
