/** What Kruise did with its DaemonSets, played against the controller with its webhooks really called. */
import { readFileSync } from "node:fs";
import { dsPatchesModule } from "@quartet/ds-patches";
import {
  type Ground,
  type GroundManager,
  playDaemonSetCase,
  readDaemonSetCases,
  startGround,
} from "@quartet/ds-patches/testkit";
import { startManager } from "@quartet/manager";
import { describe } from "@quartet/testing/replay";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Limit for an API server and a manager to start or end on a busy machine, and for one case, ms. */
const GROUND_MS = 180_000;
const CASE_MS = 240_000;

const name = "peer-cases.jsonl";
const file = new URL(`../../packages/ds-patches/test/corpus/${name}`, import.meta.url);
const rows = readDaemonSetCases(readFileSync(file, "utf8"), name);
let ground: Ground;

beforeAll(async () => {
  const real = process.env.QUARTET_TARGET === "real";
  ground = await startGround({ real, startManager: start, onProgress: () => {} });
}, GROUND_MS);
afterAll(() => ground.close(), GROUND_MS);

for (const row of rows) {
  it(`${row.rules.join(" ")} ${row.name}`, { timeout: CASE_MS }, async () => {
    const { verdict, error, faults } = await playDaemonSetCase(ground, row);
    expect([...(error === undefined ? [] : [error]), ...faults.map(describe)]).toEqual([]);
    expect(verdict).not.toBe("failed");
  });
}

/** The manager as `quartet dev` runs it, with the login of an administrator. */
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
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
}
