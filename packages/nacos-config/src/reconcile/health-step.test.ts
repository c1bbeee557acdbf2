import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Probe, Probes } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { newStatefulSet } from "../desired/statefulset.ts";
import { configMap, NONE, nacos, passOf, stored } from "../fixtures.testkit.ts";
import { healthStep } from "./health-step.ts";
import { createMemoryStore } from "./memory.ts";
import { createNodeWatch } from "./node-watch.ts";

const PASSED = { health: { state: "passed", nodes: [], versions: new Map() } };
/** Answers without asking; the question is not kept. */
const probes = {
  probe: async (_resource: unknown, _probe: Probe<unknown>) => ({ state: "ok", value: PASSED, at: 0 }),
} as unknown as Probes;

it("NACOS-923 NACOS-1007 while the nodes of a resource are watched, nothing is held of the pass that found them well", async () => {
  const clock = fakeClock();
  const nodeWatch = createNodeWatch(clock);
  const memory = createMemoryStore().of("t/demo", "uid-demo");
  const check = async (): Promise<WeakRef<object>> => {
    const parts = { memory, probes, nodeWatch, clock, skipNodeCheck: false };
    const pass = passOf(nacos(), configMap("none", {}), parts);
    const health = await healthStep(pass, stored(newStatefulSet(pass.settings, NONE)), [], new Map());
    expect(health).toMatchObject({ state: "passed" });
    return new WeakRef(pass);
  };
  const pass = await check();
  expect(clock.pending).toBe(1);
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  await expect
    .poll(() => {
      collectGarbage();
      return pass.deref() === undefined;
    })
    .toBe(true);
});
