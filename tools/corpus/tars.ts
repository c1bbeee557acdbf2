/** Recorded behaviour of the TARS peer, played against the controllers with their webhooks: several cases at a time. */
import { startManager } from "@quartet/manager";
import { tarsModule } from "@quartet/tars-tserver";
import { type GroundManager, playTarsCase, readTarsCases, startGround } from "@quartet/tars-tserver/testkit";
import { startAll } from "@quartet/testing/replay";
import type { CorpusFile, CorpusOptions } from "./kinds.ts";
import { reportOf } from "./nacos.ts";

/** Plays recorded cases: requests in, answers, stored objects and children out. */
export async function playTarsCases(file: CorpusFile, { real }: CorpusOptions): Promise<boolean> {
  const rows = readTarsCases(file.text, file.name);
  const count = { passed: 0, failed: 0, skipped: 0 };
  const ground = await startGround({ real, startManager: start, onProgress: (line) => console.error(line) });
  try {
    const plays = startAll([...rows.entries()], async ([index, row]) => {
      const start = performance.now();
      const place = await ground.openPlace(index);
      const outcome = await playTarsCase(place, row);
      await place.close();
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

/** The manager as `quartet dev` runs it. */
function start(kubeconfig: string): Promise<GroundManager> {
  return startManager({
    modules: [tarsModule],
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
    ],
    registerWebhooks: true,
    processMetrics: false,
  });
}
