/** `npm run -s corpus -- KIND FILE.jsonl`: plays the cases of a file of that kind; exit 1 when one fails. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CORPUS_KINDS } from "./corpus/kinds.ts";
import { casesOf } from "./corpus/lines.ts";

const [kind, file, ...rest] = process.argv.slice(2);
const play = kind === undefined ? undefined : CORPUS_KINDS[kind];
if (play === undefined || file === undefined || rest.length > 0) {
  console.error("usage: npm run -s corpus -- KIND FILE.jsonl");
  console.error(
    `  ${kind !== undefined && play === undefined ? `unknown kind ${kind}; ` : ""}KIND is one of ${Object.keys(CORPUS_KINDS).join(", ")}`,
  );
  process.exit(2);
}

let cases: Record<string, unknown>[];
try {
  cases = casesOf(readFileSync(resolve(file), "utf8"));
} catch (error) {
  console.error(`${file}: ${error instanceof Error ? error.message : error}`);
  process.exit(2);
}
let failed = 0;
for (const [index, testCase] of cases.entries()) {
  const failure = play(testCase);
  if (failure === undefined) continue;
  failed += 1;
  console.log(`${testCase.name ?? `case ${index + 1}`}\n  ${failure}`);
}
console.log(`${cases.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
