/** Recorded behaviour of Kruise's DaemonSets, played against the controller: one case at a time on each API server. */
import { dsPatchesModule } from "@quartet/ds-patches";
import {
  type DaemonSetCase,
  type DryRunCase,
  type GroundManager,
  playDaemonSetCase,
  playDryRunCase,
  readDaemonSetCases,
  sendDryRunCase,
  startGround,
} from "@quartet/ds-patches/testkit";
import { startManager } from "@quartet/manager";
import type { CorpusFile, CorpusOptions } from "./kinds.ts";
import { casesOf } from "./lines.ts";
import { reportOf } from "./nacos.ts";

/** API servers at a time: the nodes of a case are the only ones of its server. Doubles are cheap. */
const SERVERS = { double: 6, real: 1 };

/** Plays recorded cases: changes of DaemonSets, nodes and pods in, pods and status out. */
export async function playDaemonSetCases(file: CorpusFile, { real }: CorpusOptions): Promise<boolean> {
  const rows = readDaemonSetCases(file.text, file.name);
  const count = { passed: 0, failed: 0, skipped: 0 };
  const left = rows.values();
  const work = async (): Promise<void> => {
    const ground = await startGround({ real, startManager: start, onProgress: (line) => console.error(line) });
    try {
      for (const row of left) count[await played(ground, row)] += 1;
    } finally {
      await ground.close();
    }
  };
  const servers = Math.min(rows.length, real ? SERVERS.real : SERVERS.double);
  await Promise.all(Array.from({ length: servers }, work));
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed === 0;
}

/** Plays recorded verdicts about templates: with the recorded answers, or asking a real API server by our webhooks. */
export async function playDryRunCases(file: CorpusFile, { real }: CorpusOptions): Promise<boolean> {
  const rows = casesOf(file.text, file.name) as unknown as DryRunCase[];
  const options = { real, startManager: start, onProgress: (line: string) => console.error(line) };
  const ground = real ? await startGround(options) : undefined;
  let failed = 0;
  try {
    for (const row of rows) {
      const failure = await (ground ? sendDryRunCase(ground.arena.client, row) : playDryRunCase(row));
      if (failure === undefined) continue;
      failed += 1;
      console.log(`FAILED ${row.name}\n  ${failure}`);
    }
  } finally {
    await ground?.close();
  }
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

async function played(ground: Parameters<typeof playDaemonSetCase>[0], row: DaemonSetCase) {
  const begin = performance.now();
  const outcome = await playDaemonSetCase(ground, row);
  console.error(`${outcome.verdict} in ${((performance.now() - begin) / 1000).toFixed(1)} s: ${row.name}`);
  const report = reportOf(row, outcome);
  if (report !== "") console.log(report);
  return outcome.verdict;
}

/** The manager as `quartet dev` runs it. */
function start(kubeconfig: string): Promise<GroundManager> {
  return startManager({
    modules: [dsPatchesModule],
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
