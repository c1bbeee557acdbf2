/** The kinds of corpus: how a case of each kind is played and what counts as equal. */
import { isDeepStrictEqual } from "node:util";
import { parseProperties } from "@quartet/nacos-config/properties";
import { strategicMerge } from "@quartet/strategic-merge";

/** Plays one case; returns what is wrong with the outcome, or nothing when it is as recorded. */
export type CorpusKind = (testCase: Record<string, unknown>) => string | undefined;

/** Kinds by the name given on the command line. Formats: docs/reference/corpora.md. */
export const CORPUS_KINDS: Readonly<Record<string, CorpusKind>> = {
  properties: (testCase) =>
    compare(testCase, "effective", () => Object.fromEntries(parseProperties(String(testCase.text)))),
  "strategic-merge": (testCase) =>
    compare(testCase, "result", () => strategicMerge("PodTemplateSpec", testCase.base, testCase.patch)),
};

/** Compares an outcome with the field `expected` of the case; a case with `error` must fail instead. */
function compare(testCase: Record<string, unknown>, expected: string, play: () => unknown): string | undefined {
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
