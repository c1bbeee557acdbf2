/** Corpora of pure engines: an input, and the value or the error that comes of it. */
import { isDeepStrictEqual } from "node:util";
import type { CorpusFile } from "./kinds.ts";
import { casesOf } from "./lines.ts";

/** Plays one case; returns what is wrong with the outcome, or nothing when it is as recorded. */
export type Engine = (testCase: Record<string, unknown>) => string | undefined;

/** Plays the cases of a file; whether none failed. */
export function playAll({ name, text }: CorpusFile, play: Engine): boolean {
  const cases = casesOf(text, name);
  let failed = 0;
  for (const [index, testCase] of cases.entries()) {
    const failure = play(testCase);
    if (failure === undefined) continue;
    failed += 1;
    console.log(`${testCase.name ?? `case ${index + 1}`}\n  ${failure}`);
  }
  console.log(`${cases.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

/** Compares an outcome with the field `expected` of the case; a case with `error` must fail instead. */
export function compare(
  testCase: Record<string, unknown>,
  expected: string,
  play: () => unknown,
): string | undefined {
  let actual: unknown;
  try {
    actual = play();
  } catch (error) {
    return testCase.error === undefined ? `failed: ${error instanceof Error ? error.message : error}` : undefined;
  }
  if (testCase.error !== undefined) return `expected an error, got ${JSON.stringify(actual)}`;
  if (isDeepStrictEqual(actual, testCase[expected])) return undefined;
  return `expected ${JSON.stringify(testCase[expected])}\n  got      ${JSON.stringify(actual)}`;
}
