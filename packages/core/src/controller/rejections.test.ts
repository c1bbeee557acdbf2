import { afterEach, beforeEach, expect, it } from "vitest";
import { things } from "../cache/fixtures.testkit.ts";
import { handleRejections } from "./rejections.ts";
import { openScene, recorder, runKey, type Scene } from "./scene.testkit.ts";

let scene: Scene;
let fatal: unknown[];
let restore: () => void;
beforeEach(() => {
  scene = openScene();
  fatal = [];
  // The test runner's own listener would fail the test.
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const remove = handleRejections((error) => fatal.push(error));
  restore = () => {
    remove();
    for (const listener of others) process.on("unhandledRejection", listener);
  };
});
afterEach(async () => {
  restore();
  await scene.close();
});

it("CORE-231 a rejection that nobody handles is a panic of the controller whose reconcile began it", async () => {
  const record = recorder(async () => {
    void Promise.reject(new Error("forgotten"));
    return undefined;
  });
  await runKey(scene, record, (builder) => builder.for(things));
  await scene.clock.flush();
  expect(scene.counts).toEqual({ success: 1, panic: 1 });
  expect(scene.logged("unhandled rejection in a reconcile")[0]?.fields).toMatchObject({
    controller: "echo",
    name: "a",
  });
  expect(fatal).toEqual([]);
});

it("CORE-231 one that comes long after the run is still the controller's", async () => {
  const record = recorder(async () => {
    setTimeout(() => void Promise.reject(new Error("late")), 5);
    return undefined;
  });
  await runKey(scene, record, (builder) => builder.for(things));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(scene.counts.panic).toBe(1);
  expect(fatal).toEqual([]);
});

it("CORE-231 one from outside of reconciles is fatal", async () => {
  const error = new Error("outside");
  void Promise.reject(error);
  await scene.clock.flush();
  expect(fatal).toEqual([error]);
});

it("CORE-230 CORE-231 is reported as fatal when the process shall end with a panic", async () => {
  const reported: unknown[] = [];
  const record = recorder(async () => {
    void Promise.reject(new Error("forgotten"));
    return undefined;
  });
  await runKey(scene, record, (builder) => builder.for(things), { onFatal: (error) => reported.push(error) });
  await scene.clock.flush();
  expect(reported).toHaveLength(1);
});

it("CORE-231 a reconcile that another one queues is not taken for its part", async () => {
  const second = recorder(async () => {
    void Promise.reject(new Error("second's own"));
    return undefined;
  });
  const other = scene.builder("other").for(things).complete(second.reconcile);
  await scene.start(other);
  const first = recorder(async (key) => {
    other.enqueue(key);
    return undefined;
  });
  await runKey(scene, first, (builder) => builder.for(things));
  await scene.clock.flush();
  const lines = scene.logged("unhandled rejection in a reconcile");
  expect(lines.map(({ fields }) => fields.controller)).toEqual(["other"]);
});
