/** What the peer did with hundreds of requests, played against the controllers with their webhooks really called. */
import { readFileSync } from "node:fs";
import { type Ground, playTarsCase, readTarsCases } from "@quartet/tars-tserver/testkit";
import { describe, type Outcome, startAll } from "@quartet/testing/replay";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GROUND_MS, openTarsGround } from "./support/ground.ts";

/** Time for a case that is the last of several in its turn. */
const TIMEOUT_MS = 600_000;
/** Rules in a title; the rest stand in the file. */
const TITLE_RULES = 4;

const name = "peer-cases.jsonl";
const file = new URL(`../../packages/tars-tserver/test/corpus/${name}`, import.meta.url);
const rows = readTarsCases(readFileSync(file, "utf8"), name);
let ground: Ground;
let outcomes: Promise<Outcome>[] = [];

beforeAll(async () => {
  ground = await openTarsGround();
  outcomes = startAll([...rows.entries()], async ([index, row]) => {
    const place = await ground.openPlace(index);
    const outcome = await playTarsCase(place, row);
    await place.close();
    return outcome;
  });
}, GROUND_MS);
afterAll(async () => {
  await Promise.all(outcomes);
  await ground.close();
}, TIMEOUT_MS);

for (const [index, row] of rows.entries()) {
  const rules = row.rules.filter((rule) => rule.startsWith("TARS-")).slice(0, TITLE_RULES);
  it(`${rules.join(" ")} ${row.name}`, { timeout: TIMEOUT_MS }, async () => {
    const { verdict, error, faults } = await outcomes[index]!;
    expect([...(error === undefined ? [] : [error]), ...faults.map(describe)]).toEqual([]);
    expect(verdict).not.toBe("failed");
  });
}
