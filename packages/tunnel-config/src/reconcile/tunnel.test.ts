import type { Kind, ReconcileContext } from "@quartet/core";
import { systemClock } from "@quartet/core";
import { testContext } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { ANNOTATIONS, FINALIZER } from "../constants.ts";
import { type AnyTunnel, CLUSTER_TUNNEL } from "../kinds.ts";
import { createBackoff } from "./backoff.ts";
import { createTunnelReconcile } from "./tunnel.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

it("D12 TUN-004 the first status of a tunnel is written under the version that was read: an identifier of somebody else is not lost", async () => {
  const annotations = { [ANNOTATIONS.pause]: "true" };
  const metadata = {
    name: "main",
    resourceVersion: "1",
    generation: 1,
    finalizers: [FINALIZER],
    annotations,
  };
  const read: Loose = { metadata, spec: {} };
  const written: Loose[] = [];
  const client: Loose = {
    get: async () => structuredClone(read),
    list: async () => ({ items: [] }),
    updateStatus: async (_: Kind, object: Loose) => void written.push(object),
    patchStatus: async (_: Kind, current: Loose, status: Loose) =>
      void written.push({ patched: current.status, status }),
  };
  const ctx: ReconcileContext = testContext(client, client, { events: { record: () => {} } as never });
  const options: Loose = { clock: systemClock, backoff: createBackoff() };
  const reconcile = createTunnelReconcile(CLUSTER_TUNNEL as Kind<AnyTunnel>, options);
  await reconcile({ namespace: "", name: "main" }, ctx);
  expect(written).toMatchObject([
    { metadata: { resourceVersion: "1" }, status: { tunnelId: "", state: "pending" } },
  ]);
  const status = { tunnelId: "t", tunnelName: "main", accountId: "a", zoneId: "" };
  read.status = status;
  await reconcile({ namespace: "", name: "main" }, ctx);
  expect(written[1]).toMatchObject({ patched: status, status });
});
