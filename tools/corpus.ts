/**
 * `npm run -s corpus -- KIND FILE.jsonl [--real]`: plays the cases of a file of that kind. Exit 1 when one fails, 2 when
 * the call or the file is not as it should be.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { CorpusFormatError } from "@quartet/testing/replay";
import { CORPUS_KINDS } from "./corpus/kinds.ts";

function refuse(problem: string): never {
  const targets = Object.entries(CORPUS_KINDS).filter(([, { hasTargets }]) => hasTargets);
  console.error(problem);
  console.error("usage: npm run -s corpus -- KIND FILE.jsonl [--real]");
  console.error(`  KIND is one of ${Object.keys(CORPUS_KINDS).join(", ")}`);
  console.error(`  --real plays ${targets.map(([name]) => name).join(" and ")} on a real control plane`);
  process.exit(2);
}

function callOf(argv: readonly string[]): { kind: string; file: string; real: boolean } {
  try {
    const options = { real: { type: "boolean", default: false } } as const;
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    const [kind, file, ...rest] = positionals;
    if (kind === undefined || file === undefined) return refuse("a kind and a file are needed");
    if (rest.length > 0) return refuse(`too many arguments: ${rest.join(" ")}`);
    return { kind, file, real: values.real };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

const { kind, file, real } = callOf(process.argv.slice(2));
const corpus = CORPUS_KINDS[kind];
if (corpus === undefined) refuse(`unknown kind ${kind}`);
if (real && !corpus.hasTargets) refuse(`--real: ${kind} needs no API server; leave it out`);
try {
  const text = readFileSync(resolve(file), "utf8");
  process.exitCode = (await corpus.play({ name: file, text }, { real })) ? 0 : 1;
} catch (error) {
  const known = error instanceof CorpusFormatError || (error as NodeJS.ErrnoException).code === "ENOENT";
  if (!known) throw error;
  console.error((error as Error).message);
  process.exitCode = 2;
}
