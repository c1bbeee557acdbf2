import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { authenticated } from "./auth.ts";
import { createEngine, type Engine } from "./engine.ts";
import { createPki, startDouble } from "./index.ts";

const USER = authenticated("bench", ["system:masters"]);
function engine(): Engine {
  return createEngine({
    version: "v1.37.2",
    bookmarkMs: 60_000,
    rbac: true,
    garbageCollection: true,
    watchList: true,
    address: () => "",
  });
}

async function create(target: Engine, name: string): Promise<void> {
  const { answer } = await target.handler.handle({
    method: "POST",
    url: "/api/v1/namespaces/default/configmaps",
    headers: {},
    body: JSON.stringify({
      metadata: { name, labels: { app: "bench" } },
      data: { text: "value", more: "x".repeat(200) },
    }),
    certificate: USER,
    signal: new AbortController().signal,
  });
  expect(answer.code).toBe(201);
}

/** Best of three, per second. */
async function rate(count: number, run: () => Promise<void>): Promise<number> {
  let best = 0;
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    await run();
    best = Math.max(best, (count * 1000) / (performance.now() - start));
  }
  return best;
}

it("CORE-498 5 000 creates a second on one core", async () => {
  const target = engine();
  let next = 0;
  const perSecond = await rate(2000, async () => {
    for (let i = 0; i < 2000; i += 1) await create(target, `c-${next++}`);
  });
  target.stop();
  console.log(`creates/s: ${Math.round(perSecond)}`);
  expect(perSecond).toBeGreaterThan(5000);
});

it("CORE-498 ten watchers see a thousand events a second", async () => {
  const target = engine();
  let lines = 0;
  for (let i = 0; i < 10; i += 1) {
    const { answer } = await target.handler.handle({
      method: "GET",
      url: "/api/v1/namespaces/default/configmaps?watch=true",
      headers: {},
      body: "",
      certificate: USER,
      signal: new AbortController().signal,
    });
    answer.stream!({
      write() {
        lines += 1;
      },
      end: () => {},
      destroy: () => {},
    });
  }
  let next = 0;
  const perSecond = await rate(1000, async () => {
    for (let i = 0; i < 1000; i += 1) await create(target, `c-${next++}`);
  });
  target.stop();
  console.log(`events/s to each of 10 watchers: ${Math.round(perSecond)}`);
  expect(lines).toBe(10 * next);
  expect(perSecond).toBeGreaterThan(1000);
});

it("CORE-498 is up within 50 ms once it has certificates", async () => {
  const pki = await createPki();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now();
    const double = await startDouble({ pki });
    best = Math.min(best, performance.now() - start);
    await double.stop();
  }
  console.log(`start: ${best.toFixed(1)} ms`);
  expect(best).toBeLessThan(50);
});
