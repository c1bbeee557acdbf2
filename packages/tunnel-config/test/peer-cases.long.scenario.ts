/** What was recorded on the peer operator, replayed. */
import { readFileSync } from "node:fs";
import { describe as inWords, type Outcome } from "@quartet/testing/replay";
import { openTarget } from "@quartet/testing/stage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ground, openGround, playTunnelCase, readTunnelCases } from "./replay/index.ts";

const FILE = new URL("./corpus/peer-cases.jsonl", import.meta.url);
/** Longest time of one case. */
const TIMEOUT_MS = 170_000;

describe("recorded behaviour of the peer", () => {
  const rows = readTunnelCases(readFileSync(FILE, "utf8"), "peer-cases.jsonl");
  let ground: Ground;
  let end: () => Promise<void>;
  beforeAll(async () => {
    const server = await openTarget();
    ground = await openGround(server);
    end = async () => {
      await ground.close();
      await server.stop();
    };
  }, TIMEOUT_MS);
  afterAll(() => end?.(), TIMEOUT_MS);
  for (const row of rows) {
    it(row.name, { timeout: TIMEOUT_MS }, async () => {
      const { error, faults, verdict }: Outcome = await playTunnelCase(ground, row);
      expect([...(error === undefined ? [] : [error]), ...faults.map(inWords)]).toEqual([]);
      expect(verdict).not.toBe("failed");
    });
  }
});
