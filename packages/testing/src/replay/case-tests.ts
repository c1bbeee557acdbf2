/** Recorded cases as tests: all are started at once, a few at a time, and each test waits for its own. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTarget } from "../stage/target.ts";
import { type Arena, type ArenaOptions, openArena, startArena } from "./arena.ts";
import { describe } from "./diff.ts";
import type { Outcome } from "./outcome.ts";
import { startAll } from "./start-all.ts";

/** Time for a case that is the last of several in its turn. */
const TIMEOUT_MS = 170_000;

export interface CaseTests<Row> {
  readonly file: URL;
  readonly run: ArenaOptions;
  read(text: string, file: string): Row[];
  play(arena: Arena, row: Row): Promise<Outcome>;
  readonly verdicts: readonly Outcome["verdict"][];
  titleOf(row: Row): string;
}

/** One test for each row of a corpus file. */
export function testCases<Row>({ file, run, read, play, verdicts, titleOf }: CaseTests<Row>): void {
  const rows = read(readFileSync(file, "utf8"), file.pathname.split("/").at(-1)!);
  let arena: Arena;
  let outcomes: Promise<Outcome>[] = [];
  beforeAll(async () => {
    arena = await openTargetArena(run);
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
async function openTargetArena(run: ArenaOptions): Promise<Arena> {
  if (process.env.QUARTET_TARGET !== "real") return startArena(run, { real: false });
  return openArena(await openTarget(), run);
}
