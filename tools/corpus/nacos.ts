/** Recorded behaviour of the Nacos peer, played against the controller: several cases at a time. */
import { playAdoption, playCase, RUN, readAdoptions, readCases } from "@quartet/nacos-config/testkit";
import { type Arena, describe, type Outcome, startAll, startArena } from "@quartet/testing/replay";
import type { CorpusFile, CorpusOptions } from "./kinds.ts";

/** A case of either format. */
export interface Row {
  /** `file:line`. */
  readonly at: string;
  readonly name: string;
  readonly rules: readonly string[];
}

/** Plays recorded cases: steps in, children and their changes out. */
export function playNacosCases(file: CorpusFile, options: CorpusOptions): Promise<boolean> {
  // The longest first, so that none of them is left over at the end.
  const rows = readCases(file.text, file.name).sort((a, b) => b.expect.trace.length - a.expect.trace.length);
  return playRows(rows, (arena, row) => playCase(arena, row, { thorough: true }), options);
}

/** Proves for recorded clusters of the peer that they are adopted without a change of their pods. */
export function playNacosAdoptions(file: CorpusFile, options: CorpusOptions): Promise<boolean> {
  return playRows(readAdoptions(file.text, file.name), playAdoption, options);
}

async function playRows<T extends Row>(
  rows: readonly T[],
  play: (arena: Arena, row: T) => Promise<Outcome>,
  { real }: CorpusOptions,
): Promise<boolean> {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const arena = await startArena(RUN, { real, onProgress: (line) => console.error(line) });
  try {
    const plays = startAll(rows, async (row) => {
      const start = performance.now();
      const outcome = await play(arena, row);
      count[outcome.verdict] += 1;
      console.error(`${outcome.verdict} in ${((performance.now() - start) / 1000).toFixed(1)} s: ${row.name}`);
      const report = reportOf(row, outcome);
      if (report !== "") console.log(report);
    });
    await Promise.all(plays);
  } finally {
    await arena.close();
  }
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed === 0;
}

/** What is printed of a case; nothing of one that came out as recorded. */
export function reportOf({ at, name, rules }: Row, { verdict, differences, faults, error }: Outcome): string {
  if (verdict === "passed" || (verdict === "skipped" && differences.length === 0)) return "";
  const failed = verdict === "failed";
  const title = `${failed ? "FAILED" : "differs"} ${name} (${at}${rules.length > 0 ? `; ${rules.join(", ")}` : ""})`;
  const lines = (failed && faults.length > 0 ? faults : differences).map(describe);
  return [title, ...(error === undefined ? [] : [error]), ...lines].join("\n").replaceAll("\n", "\n  ");
}
