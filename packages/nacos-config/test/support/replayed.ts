/** Recorded cases as tests: all are started at once, a few at a time, and each test waits for its own. */
import { readFileSync } from "node:fs";
import { attachControlPlane } from "@quartet/testing";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import {
  type Arena,
  describe,
  type Outcome,
  openArena,
  playCase,
  type RecordedCase,
  readCases,
  startAll,
  startArena,
} from "../replay/index.ts";

/** Time for a case that is the last of several in its turn. */
const TIMEOUT_MS = 170_000;

/** One test for each case of `test/corpus/<file>.jsonl`, under the title that is made of it. */
export function testCases(
  file: string,
  verdicts: readonly Outcome["verdict"][],
  titleOf: (row: RecordedCase) => string,
): void {
  const text = readFileSync(new URL(`../corpus/${file}.jsonl`, import.meta.url), "utf8");
  const rows = readCases(text, `${file}.jsonl`);
  let arena: Arena;
  let outcomes: Promise<Outcome>[] = [];
  beforeAll(async () => {
    arena = await openTarget();
    outcomes = startAll(rows, (row) => playCase(arena, row));
  });
  afterAll(async () => {
    await Promise.all(outcomes);
    await arena.close();
  }, TIMEOUT_MS);
  for (const [index, row] of rows.entries()) {
    it(titleOf(row), { timeout: TIMEOUT_MS }, async () => {
      const { verdict, error, faults } = await outcomes[index]!;
      expect([...(error === undefined ? [] : [error]), ...faults.map(describe)]).toEqual([]);
      expect(verdicts).toContain(verdict);
    });
  }
}

/** An arena on the target that the test run is for. */
async function openTarget(): Promise<Arena> {
  if (process.env.QUARTET_TARGET !== "real") return startArena({ real: false });
  return openArena(attachControlPlane(inject("controlPlane")));
}
