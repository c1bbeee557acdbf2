import { afterEach, beforeEach, expect, it } from "vitest";
import { things } from "../cache/fixtures.testkit.ts";
import { endless, openScene, type Recorder, runKey, type Scene } from "./scene.testkit.ts";
import type { Controller, RawSource } from "./types.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const run = (record: Recorder): Promise<Controller> =>
  runKey(scene, record, (builder) => builder.for(things));

it("CORE-262 lets running reconciles end, with their signal untouched, and takes no new work", async () => {
  const record = endless();
  const controller = await run(record);
  const stopped = controller.stop(20_000);
  controller.enqueue({ namespace: "t", name: "b" });
  await scene.clock.advance(19_999);
  expect(record.contexts[0]?.signal.aborted).toBe(false);
  record.end();
  await scene.clock.flush();
  expect(await stopped).toEqual({ stuck: [] });
  expect(record.keys).toEqual(["t/a"]);
  expect(controller.state).toBe("Stopped");
});

it("CORE-262 aborts what still runs after the drain, and names what does not end", async () => {
  const record = endless();
  const controller = await run(record);
  const stopped = controller.stop(20_000);
  await scene.clock.advance(20_000);
  expect(record.contexts[0]?.signal.aborted).toBe(true);
  await scene.clock.advance(1000);
  expect(await stopped).toEqual({ stuck: ["t/a"] });
});

it("CORE-262 with a negative time waits without limit, with 0 not at all", async () => {
  const patient = endless();
  const controller = await run(patient);
  const stopped = controller.stop(-1);
  await scene.clock.advance(200_000);
  expect(patient.contexts[0]?.signal.aborted).toBe(false);
  patient.end();
  await scene.clock.flush();
  expect(await stopped).toEqual({ stuck: [] });

  const second = endless();
  const other = scene.builder("other").for(things).complete(second.reconcile);
  await scene.start(other);
  other.enqueue({ namespace: "t", name: "a" });
  await scene.clock.flush();
  const ended = other.stop(0);
  await scene.clock.advance(0);
  expect(second.contexts[0]?.signal.aborted).toBe(true);
  second.end();
  await scene.clock.flush();
  expect(await ended).toEqual({ stuck: [] });
});

it("CORE-262 stops its sources first", async () => {
  let signal: AbortSignal | undefined;
  const source: RawSource = {
    name: "outside",
    start(_enqueue, given) {
      signal = given;
    },
  };
  const record = endless();
  const controller = await runKey(scene, record, (builder) => builder.for(things).watchesRaw(source));
  expect(signal?.aborted).toBe(false);
  const stopped = controller.stop(20_000);
  expect(signal?.aborted).toBe(true);
  expect(scene.server.watches()).toHaveLength(1);
  record.end();
  await scene.clock.flush();
  await stopped;
  await scene.clock.flush();
  expect(scene.server.watches()).toHaveLength(0);
});

it("CORE-256 when its signal aborts, all running reconciles abort at once and no other begins", async () => {
  const record = endless();
  const controller = await run(record);
  const reason = new Error("leader election lost");
  scene.lost.abort(reason);
  expect(record.contexts[0]?.signal.reason).toBe(reason);
  controller.enqueue({ namespace: "t", name: "b" });
  record.end();
  await scene.clock.flush();
  expect(record.keys).toEqual(["t/a"]);
});

it("ends while it starts, when its signal aborts", async () => {
  const controller = scene.builder().for(things).complete(endless().reconcile);
  scene.server.refuse("watch", new Error("not now"), 1000);
  scene.server.refuse("list", new Error("not now"), 1000);
  const { done } = await scene.start(controller);
  const reason = new Error("never mind");
  scene.lost.abort(reason);
  await done;
});
