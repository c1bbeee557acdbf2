import { afterEach, beforeEach, expect, it } from "vitest";
import { things } from "../cache/fixtures.testkit.ts";
import { endless, KEY, openScene, runKey, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

it("CORE-232 aborts a run after 5 min, keeps its key locked, and names it each minute after 10 min", async () => {
  const record = endless();
  const controller = await runKey(scene, record, (builder) => builder.for(things));
  await scene.clock.advance(299_999);
  expect(record.contexts[0]?.signal.aborted).toBe(false);
  await scene.clock.advance(1);
  expect(record.contexts[0]?.signal.reason).toMatchObject({ message: "reconciliation timeout" });
  expect(scene.counts.timeout).toBe(1);
  controller.enqueue(KEY);
  await scene.clock.advance(299_999);
  expect(scene.logged("warn")).toEqual([]);
  await scene.clock.advance(1 + 120_000);
  expect(scene.logged("warn").map(({ fields }) => fields.name)).toEqual(["a", "a", "a"]);
  expect(record.keys).toHaveLength(1);
  record.end();
  await scene.clock.flush();
  expect(record.keys).toHaveLength(2);
  record.end();
  await scene.clock.advance(200_000);
  expect(scene.counts.timeout).toBe(1);
  expect(scene.logged("warn")).toHaveLength(3);
});

it("CORE-232 of 0 is none", async () => {
  const record = endless();
  await runKey(scene, record, (builder) => builder.for(things).withOptions({ reconcileTimeoutMs: 0 }));
  await scene.clock.advance(86_400_000);
  expect(record.contexts[0]?.signal.aborted).toBe(false);
  record.end();
});
