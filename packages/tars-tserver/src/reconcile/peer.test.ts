import type { Lease } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { describe, expect, it, vi } from "vitest";
import { apiRefusal } from "../fixtures.testkit.ts";
import { createPeerWatch, peerReports, unlessPeer } from "./peer.ts";

const lease = (renewTime: string, holderIdentity = "peer"): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "tars-controller-manger", namespace: "tars-system", uid: "u" },
  spec: { holderIdentity, renewTime },
});
const key = { namespace: "t", name: "a" };

describe("TARS-X-002", () => {
  it("nothing is reconciled while the peer renews its Lease, and 30 s after it stopped", async () => {
    const clock = fakeClock();
    let leases = [lease("2020-01-01T00:00:00Z")];
    const reconcile = vi.fn(async () => undefined);
    const guarded = unlessPeer(
      createPeerWatch(() => leases, clock),
      reconcile,
    );
    const pass = () => guarded(key, {} as never);
    expect(await pass()).toEqual({ requeueAfter: 15_000 });
    await clock.advance(20_000);
    leases = [lease("2020-01-01T00:00:20Z")];
    await pass();
    await clock.advance(29_000);
    await pass();
    expect(reconcile).not.toHaveBeenCalled();
    await clock.advance(2_000);
    await pass();
    expect(reconcile).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["nobody holds it", [lease("2020-01-01T00:00:00Z", "")]],
    ["there is none", []],
  ])("work begins at once when %s", async (_, leases) => {
    const reconcile = vi.fn(async () => undefined);
    await unlessPeer(
      createPeerWatch(() => leases, fakeClock()),
      reconcile,
    )(key, {} as never);
    expect(reconcile).toHaveBeenCalled();
  });

  it("nothing is done before the Leases are known", async () => {
    const reconcile = vi.fn(async () => undefined);
    const watch = createPeerWatch(() => undefined, fakeClock());
    expect(await unlessPeer(watch, reconcile)(key, {} as never)).toEqual({ requeueAfter: 100 });
    expect(reconcile).not.toHaveBeenCalled();
  });
});

it.each([
  ["both", ["tars-mutating-webhook", "tars-validating-webhook"]],
  ["one", ["tars-validating-webhook"]],
  ["none", []],
])("TARS-X-003 webhooks that the peer has left behind are named at the start: %s", async (_which, left) => {
  const clock = fakeClock();
  const warned: unknown[] = [];
  const end = new AbortController();
  const manager = {
    ...{ clock, events: () => ({ record: () => {} }) },
    log: {
      warn: (_text: string, fields: { configurations: string[] }) => warned.push(fields.configurations),
    },
    client: {
      async get(_kind: object, { name }: { name: string }) {
        if (!left.includes(name)) throw apiRefusal(404, "NotFound", "there is none");
      },
    },
  };
  const watch = createPeerWatch(() => [], clock);
  const running = peerReports(manager as never, watch).run(end.signal);
  await clock.advance(0);
  end.abort();
  await running;
  expect(warned.flat().sort()).toEqual(left);
});
