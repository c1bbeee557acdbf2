/** Many resources: what they cost to bring up, and that they cost nothing at rest. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

/** Resources, as many as the Go operator was measured with: 105 s and 2 579 requests until all were Running. */
const FLEET = 200;
/** Requests until Running for one resource; the Go operator takes 12.9. */
const REQUESTS_EACH = 9;
/** Time of rest in milliseconds; the Go operator sends 1 351 requests a minute then. */
const REST_MS = 30_000;

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

it("NACOS-204 NACOS-209: two hundred resources come up with few requests, and none is sent while they rest", async () => {
  await stage.startManager(NO_CHECK);
  const begin = Date.now();
  const names = Array.from({ length: FLEET }, (_, at) => `fleet-${at}`);
  for (const name of names) await objects.nacos(name, { type: "standalone", replicas: 1 });
  await eventually(async () => {
    const phases = (await objects.list("nacos")).map(({ status }) => status?.phase);
    expect(phases.filter((phase) => phase === "Running")).toHaveLength(FLEET);
  }, 240_000);
  const took = (Date.now() - begin) / 1000;
  await quiet(begin);
  const sent = await stage.cost(begin);
  console.info(`${FLEET} resources were Running after ${took.toFixed(1)} s and ${sent.length} requests`);
  expect(sent.length).toBeLessThanOrEqual(FLEET * REQUESTS_EACH);

  const rest = Date.now();
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  expect(await stage.cost(rest)).toEqual([]);
}, 400_000);

/** Resolves when no request was sent for some seconds: trailing events and status counts are out. */
async function quiet(since: number): Promise<void> {
  for (let known = -1; ; ) {
    const { length } = await stage.cost(since);
    if (length === known) return;
    known = length;
    await new Promise((resolve) => setTimeout(resolve, 13_000));
  }
}
