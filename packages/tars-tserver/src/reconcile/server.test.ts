import type { ReconcileContext } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { apiRefusal } from "../fixtures.testkit.ts";
import { createMemories } from "./memory.ts";
import { createServerReconcile } from "./server.ts";

it("TARS-R-005 TARS-R-012 a refused deletion is told on the child when its server is gone", async () => {
  const owner = {
    apiVersion: "k8s.tars.io/v1beta2",
    kind: "TServer",
    name: "demo-a",
    uid: "u1",
    controller: true,
  };
  const child = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "demo-a", namespace: "ns1", uid: "c1", ownerReferences: [owner] },
  };
  const told: unknown[] = [];
  const ctx = {
    signal: new AbortController().signal,
    cache: {
      source: ({ kind }: { kind: string }) => ({ get: () => (kind === "Service" ? child : undefined) }),
    },
    events: {
      record: (object: object, { reason, note }: { reason: string; note: string }) =>
        told.push([object, reason, note]),
    },
    client: {
      async deleteIfExists() {
        throw apiRefusal(403, "Forbidden", "no right to delete it");
      },
    },
  } as unknown as ReconcileContext;
  const reconcile = createServerReconcile({
    memories: createMemories(),
    clock: fakeClock(),
    lookups: async () => ({}) as never,
    settings: { portStyle: "seed", hostBindClaim: false, gateFallback: false },
    metrics: { holds: () => {}, gateSet: () => {}, forget: () => {} },
  });
  await expect(reconcile({ namespace: "ns1", name: "demo-a" }, ctx)).rejects.toThrow("no right");
  expect(told).toEqual([[child, "WriteRefused", "no right to delete it"]]);
});
