/**
 * `npm run soak -- MINUTES`: Echos under constant change while all watches are cut once a minute. Exits with 1 when
 * memory or sockets grow, the event loop lags, or the cache differs from the server at the end.
 */
import { LIMITS, violations } from "@quartet/e2e/core/support/drift.ts";
import { soak } from "@quartet/e2e/core/support/soak.ts";
import { startControlPlane } from "@quartet/testing";
import { orUsage, soakMinutes } from "./options.ts";

/** The full hour works on 10 000 Echos; shorter runs on as many as are created in a fitting time. */
const ECHOES_PER_MINUTE = 200;
const MOST_ECHOES = 10_000;
const CHANGES_PER_SECOND = 50;

const minutes = orUsage("npm run soak -- MINUTES", () => soakMinutes(process.argv.slice(2)));
const echoes = Math.min(MOST_ECHOES, minutes * ECHOES_PER_MINUTE);
const plane = await startControlPlane({ kwok: false, scheduler: false, onProgress: console.error });
try {
  const figures = await soak(plane, {
    minutes,
    echoes,
    changesPerSecond: CHANGES_PER_SECOND,
    note: console.error,
  });
  const { rssMib, sockets } = figures.samples.at(-1)!;
  const [before, after] = figures.heapMib.map((mib) => mib.toFixed(1));
  console.log(`RSS ${rssMib.toFixed(0)} MiB, in use ${before} -> ${after} MiB, ${sockets} sockets`);
  console.log(
    `event-loop lag p99 ${figures.lagP99Ms.toFixed(1)} ms (limit ${LIMITS.lagP99Ms} ms beyond the machine's own ${figures.machineLagP99Ms.toFixed(1)} ms)`,
  );
  const found = violations(figures);
  for (const violation of found) console.log(`VIOLATION: ${violation}`);
  console.log(found.length === 0 ? `${minutes} minutes without a violation` : `${found.length} violations`);
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  await plane.stop();
}
