/** Recorded behaviour of the Cloudflare peer, played against the controllers: several cases at a time. */
import { startAll } from "@quartet/testing/replay";
import { playTunnelCase, readTunnelCases, startGround } from "@quartet/tunnel-config/testkit";
import type { CorpusFile, CorpusOptions } from "./kinds.ts";
import { reportOf } from "./nacos.ts";

/** Plays recorded cases: steps in, the account, the zone and the objects of the cluster out. */
export async function playTunnelCases(file: CorpusFile, { real }: CorpusOptions): Promise<boolean> {
  const rows = readTunnelCases(file.text, file.name);
  const count = { passed: 0, failed: 0, skipped: 0 };
  const ground = await startGround({ real, onProgress: (line) => console.error(line) });
  try {
    const plays = startAll(rows, async (row) => {
      const start = performance.now();
      const outcome = await playTunnelCase(ground, row);
      count[outcome.verdict] += 1;
      console.error(`${outcome.verdict} in ${((performance.now() - start) / 1000).toFixed(1)} s: ${row.name}`);
      const report = reportOf(row, outcome);
      if (report !== "") console.log(report);
    });
    await Promise.all(plays);
  } finally {
    await ground.close();
  }
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed === 0;
}
