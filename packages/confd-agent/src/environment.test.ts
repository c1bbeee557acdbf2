/** The environment as a source of an agent that goes on. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, eventually, type Scene } from "./agent.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
  scene.resource("out", { keys: ["/name"], template: '{{getv "/name"}} {{datetime.UnixNano}}' });
});
afterEach(() => scene.close());
const text = (): string => (scene.exists("out") ? scene.read("out") : "");

it("CONFD-ENVB-3 while watching it is rendered once and never asked again", async () => {
  const agent = scene.start(["env", "--watch", "--interval", "1"], { NAME: "n" });
  const first = await eventually(text, (found) => found.startsWith("n "));
  await sleep(2500);
  expect(text()).toBe(first);
  expect(agent.log()).not.toContain("datetime");
});

it("CONFD-FN-2 a template that tells the time is a warning where each interval renders it", async () => {
  const agent = scene.start(["env", "--interval", "1"], { NAME: "n" });
  const first = await eventually(text, (found) => found.startsWith("n "));
  await eventually(text, (found) => found !== first);
  expect(agent.log().split("uses datetime: each interval writes and reloads it")).toHaveLength(2);
});
