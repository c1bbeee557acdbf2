import { CONTROLLER_INDEX, createExpectations, createMetrics, type ReconcileContext } from "@quartet/core";
import { CONTROLLER_REVISION, NODE, POD } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { baseData } from "../desired/revision-data.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { createMemoryStore, expectationKey } from "./memory.ts";
import { createPatchMetrics } from "./metrics.ts";
import { createReconciler } from "./reconcile.ts";

const EXPIRED_MS = 5 * 60_000 + 1;
const template = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "m", image: "i" }] },
};
const daemonSet: DaemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t", uid: "u", generation: 2 },
  spec: { selector: { matchLabels: { app: "a" } }, template },
};
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
const revision = {
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: { name: "agent-r1", labels: { app: "a", "controller-revision-hash": "r1" } },
  data: JSON.parse(baseData(template)),
  revision: 1,
};

it("DSP-712 while pods are awaited a pass counts and does nothing else, and after five minutes it waits no more", async () => {
  const clock = fakeClock();
  const expectations = createExpectations(clock);
  const created: unknown[] = [];
  const statuses: object[] = [];
  const ctx = {
    cache: {
      get: async (kind: unknown) => (kind === DAEMON_SET ? daemonSet : undefined),
      list: async (kind: unknown) => (kind === NODE ? [node] : []),
      byIndex: (kind: unknown, index: string) =>
        kind === CONTROLLER_REVISION && index === CONTROLLER_INDEX ? [revision] : [],
      source: () => ({ get: () => node }),
    },
    client: {
      async create(kind: unknown) {
        created.push(kind);
        return { metadata: { name: "x" } };
      },
      patchStatus: async (_kind: unknown, _object: unknown, status: object) => void statuses.push(status),
    },
    events: { record: () => {} },
    signal: new AbortController().signal,
  };
  const reconcile = createReconciler({
    ...{ clock, settleMs: 0, patchesEnabled: true, metrics: createPatchMetrics(createMetrics()) },
    memories: createMemoryStore(true, expectations),
  });
  const pass = () => reconcile({ namespace: "t", name: "agent" }, ctx as unknown as ReconcileContext);
  expectations.expectCreations(expectationKey(daemonSet), 1);
  expect(await pass()).toMatchObject({ requeueAfter: expect.any(Number) });
  expect(created).toEqual([]);
  expect(statuses).toEqual([expect.objectContaining({ desiredNumberScheduled: 1, observedGeneration: 0 })]);
  await clock.advance(EXPIRED_MS);
  await pass();
  expect(created).toEqual([POD]);
  expect(statuses.at(-1)).toMatchObject({ observedGeneration: 2 });
});
