/** Many servers at once: how long they take, what they cost, and that they cost nothing at rest. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { GROUND_MS, openTarsGround, type TarsGround } from "./support/ground.ts";
import { APPS, type LiveObject, labelNodes, openScene, type Scene } from "./support/scene.ts";

/** Servers, and the limits for them; the Go peer took 73 s, 235 s and 2 194 requests for 300. */
const FLEETS = [
  { size: 300, childrenMs: 20_000, activeMs: 30_000, requestsEach: 8 },
  // Measured: nothing is asked of so many but that they come up.
  { size: 1_000, childrenMs: 200_000, activeMs: 300_000, requestsEach: 8 },
] as const;
/** Requests of the scenario itself at the same time. */
const PARALLEL = 8;
const REST_MS = 20_000;

let ground: TarsGround;
let scene: Scene;
beforeEach(async () => {
  ground = await openTarsGround();
  scene = await openScene(await ground.openPlace(0));
  await labelNodes(scene);
}, GROUND_MS);
afterEach(async () => {
  await scene.close();
  await ground.close();
}, GROUND_MS);

async function createFleet(size: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < size; n = next++) {
      const answer = await scene.create("TServer", `fleet-s${n}`, {
        spec: {
          ...{ app: "Fleet", server: `S${n}`, subType: "normal" },
          normal: { ports: [{ name: "http", port: 8080 }] },
          k8s: { replicas: 1, abilityAffinity: "None" },
          release: { id: "v1", image: "r.example/s:v1" },
        },
      });
      expect(answer.code, answer.message).toBe(201);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/** How many there are, without reading all of them. */
async function count(kind: string, apiVersion = "k8s.tars.io/v1beta2"): Promise<number> {
  const path = `${await scene.place.pathOf({ apiVersion, kind })}?limit=1`;
  const { items, metadata } = await scene.place.client.ok<{
    items: object[];
    metadata: { remainingItemCount?: number };
  }>("GET", path);
  return items.length + (metadata.remainingItemCount ?? 0);
}

const progress = async (): Promise<object> => ({
  servers: await count("TServer"),
  children: await Promise.all(CHILDREN.map(([kind, version]) => count(kind, version))),
  active: (await scene.list("TEndpoint")).filter(isActive).length,
  cpu: process.cpuUsage(),
});

/** Looks once a second, so that the looking costs nothing to speak of. */
async function until(condition: () => Promise<boolean>, limitMs: number): Promise<void> {
  for (const end = Date.now() + limitMs; Date.now() < end; await sleep(1_000)) if (await condition()) return;
  throw new Error(`not within ${limitMs} ms: ${JSON.stringify(await progress())}`);
}

const CHILDREN: readonly (readonly [string, string?])[] = [
  ["StatefulSet", APPS],
  ["Service", "v1"],
  ["TEndpoint"],
  ["TExitedRecord"],
];
const isActive = ({ status }: LiveObject): boolean =>
  status?.pods?.length === 1 && status.pods[0].presentState === "Active";

it.each(FLEETS)(
  "TARS-R-001 TARS-R-021 TARS-R-076 $size servers come up in time, with few requests, and rest without any",
  {
    timeout: 600_000,
  },
  async ({ size, childrenMs, activeMs, requestsEach }) => {
    const begin = Date.now();
    const cpu = process.cpuUsage();
    const since = (): number => Date.now() - begin;
    const creating = createFleet(size);
    creating.catch(() => {});
    await until(async () => {
      const counts = await Promise.all(CHILDREN.map(([kind, version]) => count(kind, version)));
      return counts.every((found) => found === size);
    }, childrenMs * 4);
    const children = since();
    await creating;
    await until(async () => (await scene.list("TEndpoint")).filter(isActive).length === size, activeMs * 4);
    const active = since();
    await sleep(3_000);
    const sent = await ground.cost(begin);
    const { user, system } = process.cpuUsage(cpu);
    const seconds = ((user + system) / 1_000_000).toFixed(1);
    console.info(`CPU of manager and scenario: ${seconds} s`);
    console.info(`${size} servers: children ${children} ms, active ${active} ms, ${sent.length} requests`);
    expect(sent.length).toBeLessThanOrEqual(size * requestsEach);
    expect(children).toBeLessThanOrEqual(childrenMs);
    expect(active).toBeLessThanOrEqual(activeMs);
    const rest = Date.now();
    await sleep(REST_MS);
    expect(await ground.cost(rest)).toEqual([]);
  },
);
