import { afterEach, beforeEach, expect, it } from "vitest";
import { things } from "../cache/fixtures.testkit.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";
import { channel, cron, interval } from "./sources.ts";
import type { RawSource } from "./types.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const key = (name: string) => ({ namespace: "t", name });

it("CORE-225 channels, intervals and informers feed the same queue", async () => {
  const { keys, reconcile } = recorder();
  const events = channel("events");
  const tick = interval("tick", 1000, async () => [key("tick")], scene.clock);
  await scene.start(scene.builder().for(things).watchesRaw(events).watchesRaw(tick).complete(reconcile));
  events.send(key("live"));
  events.send(key("later"), { afterMs: 1500 });
  await scene.clock.advance(2500);
  expect(keys).toEqual(["t/live", "t/tick", "t/later", "t/tick"]);
});

it("CORE-225 what a channel is sent before its controller starts is kept, each key once", async () => {
  const { keys, contexts, reconcile } = recorder();
  const events = channel("events");
  for (let i = 0; i < 3; i += 1) events.send(key("early"), { afterMs: 5000, priority: i });
  events.send(key("early"), { afterMs: 100 });
  events.send(key("other"));
  await scene.start(scene.builder().watchesRaw(events).complete(reconcile));
  expect(keys).toEqual(["t/other"]);
  await scene.clock.advance(100);
  expect(keys).toEqual(["t/other", "t/early"]);
  expect(contexts[1]?.priority).toBe(2);
  await scene.clock.advance(60_000);
  expect(keys).toHaveLength(2);
});

it("CORE-225 queues by a schedule of cron, once for each time", async () => {
  const { keys, contexts, reconcile } = recorder();
  const nightly = cron("nightly", "30 3 * * *", () => [key("all")], scene.clock);
  await scene.start(scene.builder().watchesRaw(nightly).complete(reconcile));
  await scene.clock.advance(3.5 * 3_600_000 - 1);
  expect(keys).toEqual([]);
  await scene.clock.advance(1);
  expect(keys).toEqual(["t/all"]);
  await scene.clock.advance(3 * 86_400_000);
  expect(contexts).toHaveLength(4);
});

it("CORE-225 a source that fails starts again, later and later", async () => {
  const starts: number[] = [];
  const { keys, reconcile } = recorder();
  const flaky: RawSource = {
    name: "flaky",
    start(enqueue) {
      starts.push(scene.clock.monotonic());
      if (starts.length < 4) throw new Error("connection refused");
      enqueue(key("found"));
    },
  };
  await scene.start(scene.builder().watchesRaw(flaky).complete(reconcile));
  await scene.clock.advance(3_600_000);
  expect(starts).toEqual([0, 1000, 3000, 7000]);
  expect(keys).toEqual(["t/found"]);
  expect(scene.logged("error").map(({ fields }) => fields.source)).toEqual(["flaky", "flaky", "flaky"]);
});
