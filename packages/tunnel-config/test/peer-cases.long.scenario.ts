/** What was recorded on the peer operator, replayed. */
import { readFileSync } from "node:fs";
import { describe as inWords, type Outcome } from "@quartet/testing/replay";
import { openTarget } from "@quartet/testing/stage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ground, openGround, playTunnelCase, readTunnelCases, startGround } from "./replay/index.ts";

const FILE = new URL("./corpus/peer-cases.jsonl", import.meta.url);
/** Longest time of one case. */
const TIMEOUT_MS = 170_000;
const REAL = process.env.QUARTET_TARGET === "real";

/** The run's control plane, where cases take turns, or several doubles. */
async function start(): Promise<Ground> {
  if (!REAL) return startGround({ real: false });
  const server = await openTarget();
  const ground = await openGround(server);
  return {
    ...ground,
    async close() {
      await ground.close();
      await server.stop();
    },
  };
}

describe("recorded behaviour of the peer", { concurrent: !REAL }, () => {
  const rows = readTunnelCases(readFileSync(FILE, "utf8"), "peer-cases.jsonl");
  let ground: Ground;
  beforeAll(async () => {
    ground = await start();
  }, TIMEOUT_MS);
  afterAll(() => ground?.close(), TIMEOUT_MS);
  for (const row of rows) {
    it(row.name, { timeout: TIMEOUT_MS }, async () => {
      const { error, faults, verdict }: Outcome = await playTunnelCase(ground, row);
      expect([...(error === undefined ? [] : [error]), ...faults.map(inWords)]).toEqual([]);
      expect(verdict).not.toBe("failed");
    });
  }
});
