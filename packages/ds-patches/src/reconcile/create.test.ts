import { childrenOf, createChildMemory, createExpectations, createMetrics } from "@quartet/core";
import { NODE, POD, type Pod } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { createPods } from "./create.ts";
import { createMemoryStore, expectationKey } from "./memory.ts";
import { createPatchMetrics } from "./metrics.ts";
import type { ObservedNode } from "./observe.ts";
import type { PodWork } from "./work.ts";

const daemonSet: DaemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t", uid: "u" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "m", image: "i" }] } },
  },
};
const observed = (name: string): ObservedNode => ({
  ...{ name, eligibility: { shouldRun: true, shouldContinue: true }, pods: [] },
  ...{ match: undefined, patchIndexes: [], labels: {}, stalePatches: false, problem: undefined },
});

it("DSP-510 a node that went after it was looked at gets no pod, is counted, and keeps no other waiting", async () => {
  const clock = fakeClock();
  const metrics = createMetrics();
  const memory = createMemoryStore(true, createExpectations(clock)).of(daemonSet);
  const created: Pod[] = [];
  const ctx = {
    client: {
      async create(kind: typeof POD, pod: Pod) {
        expect(kind).toBe(POD);
        created.push(pod);
        return { ...pod, metadata: { ...pod.metadata, name: "x" } };
      },
    },
    cache: {
      source: (kind: typeof NODE) => ({
        get: ({ name }: { name: string }) => (kind === NODE && name !== "n1" ? { kind: "Node" } : undefined),
      }),
    },
    events: { record: () => {} },
    signal: new AbortController().signal,
  };
  const children = childrenOf(ctx as never, {
    ...{ family: { owner: DAEMON_SET, labels: () => ({}) }, owner: daemonSet },
    ...{ memory: createChildMemory(), clock },
  });
  const work = {
    ...{ daemonSet, memory, children, clock, ctx, metrics: createPatchMetrics(metrics) },
    history: { revision: "r1" },
  } as unknown as PodWork;
  const done = await createPods(["n0", "n1", "n2"].map(observed), work);
  expect(done).toMatchObject({ problems: [], errors: [] });
  expect(created.map(({ spec }) => JSON.stringify(spec?.affinity).match(/n\d/)?.[0])).toEqual(["n0", "n2"]);
  expect(await metrics.render()).toContain(
    'daemonset_patches_errors_total{namespace="t",daemonset="agent",reason="node_not_found"} 1',
  );
  // Two pods are awaited, and not a third.
  const key = expectationKey(daemonSet);
  for (const _awaited of created) {
    expect(memory.expectations.satisfied(key)).toBe(false);
    memory.expectations.created(key);
  }
  expect(memory.expectations.satisfied(key)).toBe(true);
});
