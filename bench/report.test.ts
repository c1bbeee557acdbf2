import { expect, it } from "vitest";
import { withResults } from "./report.ts";

const document =
  "# Title\n\n<!-- results: written by `npm run bench -- --write` -->\n\nold\n\n<!-- end of results -->\n\nNotes\n";

it("replaces the results and nothing else", () => {
  const next = withResults(document, "new\n");
  expect(next).toBe(document.replace("old", "new"));
  expect(withResults(next, "new\n")).toBe(next);
});

it("refuses a document without a place for results", () => {
  expect(() => withResults("# Title\n", "new")).toThrow(/needs the lines/);
});
