import { createExpectations } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { createMemoryStore, failurePause } from "./memory.ts";

const daemonSet = (generation: number, uid = "u"): DaemonSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t", uid, generation },
  spec: { selector: { matchLabels: { app: "a" } }, template: {} },
});

it("DSP-727 pauses between deletions of failed pods double on each node, and start anew after a change", () => {
  const store = createMemoryStore(true, createExpectations(fakeClock()));
  const memory = store.of(daemonSet(1));
  expect(failurePause(memory, "n1", 0)).toBe(0);
  expect(failurePause(memory, "n1", 400)).toBe(600);
  expect(failurePause(memory, "n2", 400)).toBe(0);
  expect(failurePause(memory, "n1", 1_000)).toBe(0);
  expect(failurePause(memory, "n1", 1_500)).toBe(1_500);
  expect(failurePause(store.of(daemonSet(2)), "n1", 1_500)).toBe(0);
});

it("DSP-702 a DaemonSet of the same name and another uid begins with an empty memory", () => {
  const store = createMemoryStore(true, createExpectations(fakeClock()));
  const first = store.of(daemonSet(1));
  expect(store.of(daemonSet(1))).toBe(first);
  expect(store.of(daemonSet(1, "other"))).not.toBe(first);
  store.forget({ namespace: "t", name: "agent" });
  expect([...store.all()]).toEqual([]);
});
