import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { createClaimWait } from "./claim-wait.ts";

// biome-ignore lint/suspicious/noExplicitAny: parts of objects
type Loose = any;

const NAME = "tunnel-config-t";
const legacy: Loose = { document: { sources: {} } };
const ours: Loose = { document: { sources: {}, configVersion: 3 } };
const worldOf = (...tunnels: Loose[]): Loose => ({ tunnels });
const tunnel = (kind: string, more: object = {}): Loose => ({
  kind,
  metadata: { name: kind },
  spec: {},
  ...more,
});

it("TUN-314 a document waits for tunnel objects that may own it, and for no others", () => {
  const wait = createClaimWait(fakeClock());
  const next = (stored: Loose, ...tunnels: Loose[]) => wait.next(NAME, stored, "t", worldOf(...tunnels));
  expect(next(legacy)).toBeUndefined();
  expect(next(legacy, tunnel("ClusterTunnel", { status: { tunnelId: "other" } }))).toBeUndefined();
  expect(next(legacy, tunnel("ClusterTunnel"))).toBeGreaterThan(0);
  expect(next(ours, tunnel("ClusterTunnel"))).toBeUndefined();
  expect(next(ours, tunnel("ClusterTunnel", { spec: { existingTunnel: { id: "t" } } }))).toBeGreaterThan(0);
});

it("TUN-314 a Tunnel that never gets an identifier holds the documents of others for ten minutes at most, however many follow it", async () => {
  const clock = fakeClock();
  const wait = createClaimWait(clock);
  const next = (name: string) =>
    wait.next(NAME, legacy, "t", worldOf(tunnel("Tunnel", { metadata: { name } })));
  expect(next("first")).toBeGreaterThan(0);
  await clock.advance(599_000);
  expect(next("second")).toBeGreaterThan(0);
  await clock.advance(1_000);
  expect(next("third")).toBeUndefined();
  expect(wait.next(NAME, legacy, "t", worldOf(tunnel("Tunnel"), tunnel("ClusterTunnel")))).toBeGreaterThan(0);
  wait.forget(NAME);
  expect(next("fourth")).toBeGreaterThan(0);
});
