import type { Pod, StatefulSet } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "./memory.ts";
import { awaitedPods, podsToAwait } from "./rollout-hold.ts";

const set = (replicas: number, available: number | undefined): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "demo", uid: "u" },
  spec: { replicas, selector: {}, template: { metadata: {}, spec: { containers: [] } } },
  status: { replicas, ...(available !== undefined && { availableReplicas: available }) },
});
const pods = (...ready: boolean[]): Pod[] =>
  ready.map((is, ordinal) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `demo-${ordinal}`,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "StatefulSet", name: "demo", uid: "u", controller: true },
      ],
    },
    status: { conditions: [{ type: "Ready", status: is ? "True" : "False" }] },
  }));

describe("how many ready pods a change of the pods waits for", () => {
  it.each([
    ["all are available", 3, 3, [true, true, true], 0],
    ["two are ready and not yet available", 3, 1, [true, true, true], 2],
    ["all are ready and not yet available", 3, 0, [true, true, true], 3],
    ["one alone is not available, as in any rollout", 3, 2, [true, true, true], 0],
    ["the one that is not available is not ready", 3, 2, [true, true, false], 0],
    ["all are broken: the change may mend them", 3, 0, [false, false, false], 0],
    ["one has just come up beside a broken one", 3, 1, [true, true, false], 1],
    ["there is one pod", 1, 0, [true], 0],
    ["the server does not tell", 3, undefined, [true, true, true], 0],
  ])("NACOS-465 %s", (_what, replicas, available, ready, awaited) => {
    expect(awaitedPods(set(replicas, available), pods(...ready))).toBe(awaited);
  });

  it("NACOS-465 waits a minute at most: pods that fail again and again may need it", async () => {
    const clock = fakeClock();
    const memory = createMemoryStore().of("t/demo", "u");
    const hold = (live: StatefulSet): number => podsToAwait({ memory, clock }, live, pods(true, true, true));
    expect(hold(set(3, 0))).toBe(3);
    await clock.advance(59_000);
    expect(hold(set(3, 0))).toBe(3);
    await clock.advance(1_000);
    expect(hold(set(3, 0))).toBe(0);
    expect(hold(set(3, 3))).toBe(0);
    expect(hold(set(3, 0))).toBe(3);
  });
});
