/** `npm run rules [-- --json] [-- SPEC…]`: rule coverage of the last full test run. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { REPORT_FILE, repository } from "../paths.ts";
import { rulesOf } from "./catalog.ts";
import { coverage, type TestRecord, unknownIds } from "./coverage.ts";

const { values, positionals } = readArguments();
const specFolder = `${repository}/docs/specs`;
const books = readdirSync(specFolder)
  .filter((file) => file.endsWith(".md"))
  .map((file) => file.slice(0, -".md".length));
const strangers = positionals.filter((spec) => !books.includes(spec));
if (strangers.length > 0) {
  console.error(`no rule book ${strangers.join(", ")}: known are ${books.join(", ")}`);
  process.exit(2);
}
const rules = books.flatMap((book) => rulesOf(book, readFileSync(`${specFolder}/${book}.md`, "utf8")));
const tests = existsSync(REPORT_FILE)
  ? (JSON.parse(readFileSync(REPORT_FILE, "utf8")) as { tests: TestRecord[] }).tests
  : [];
const result = coverage(rules, tests);
const unknown = unknownIds(rules, tests);

if (values.json) {
  console.log(JSON.stringify({ specs: result, unknown }, null, 2));
} else {
  if (tests.length === 0) console.log("no report of a full run yet: `npm test -- --all` writes one\n");
  const row = (cells: (string | number)[]): string =>
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(16) : String(cell).padStart(14))).join("");
  console.log(row(["spec", "rules", "real", "double or unit", "unproved"]));
  for (const spec of result) {
    console.log(
      row([spec.spec, spec.rules, spec.real.length, spec.doubleOrUnit.length, spec.unproved.length]),
    );
  }
  const wanted =
    positionals.length > 0
      ? positionals
      : result.filter((s) => s.unproved.length < s.rules).map((s) => s.spec);
  for (const spec of result) {
    if (!wanted.includes(spec.spec) || spec.unproved.length === 0) continue;
    console.log(`\n${spec.spec}: no passing test for\n  ${spec.unproved.join(" ")}`);
  }
  if (unknown.length > 0) console.log(`\nin test titles, but in no rule book: ${unknown.join(" ")}`);
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { json: { type: "boolean", default: false } } });
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: npm run rules -- [--json] [SPEC…]`);
    process.exit(2);
  }
}
