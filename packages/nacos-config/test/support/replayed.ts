/** Recorded cases as tests: all are started at once, a few at a time, and each test waits for its own. */
import { readFileSync } from "node:fs";
import { attachControlPlane } from "@quartet/testing";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type Arena, describe, type Outcome, openArena, startAll, startArena } from "../replay/index.ts";

/** Time for a case that is the last of several in its turn. */
const TIMEOUT_MS = 170_000;

export interface CaseTests<Row> {
  /** In `test/corpus`. */
  readonly file: string;
  read(text: string, file: string): Row[];
  play(arena: Arena, row: Row): Promise<Outcome>;
  readonly verdicts: readonly Outcome["verdict"][];
  titleOf(row: Row): string;
}

/** One test for each row of a corpus file. */
export function testCases<Row>({ file, read, play, verdicts, titleOf }: CaseTests<Row>): void {
  const rows = read(readFileSync(new URL(`../corpus/${file}`, import.meta.url), "utf8"), file);
  let arena: Arena;
  let outcomes: Promise<Outcome>[] = [];
  beforeAll(async () => {
    arena = await openTarget();
    outcomes = startAll(rows, (row) => play(arena, row));
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
