import { describe, expect, it } from "vitest";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { createForeignLeases, type ForeignLeases } from "./foreign-lease.ts";
import { type LeaseServer, leaseServer, refused } from "./lease.testkit.ts";

function start(): {
  clock: FakeClock;
  server: LeaseServer;
  held: () => Promise<boolean>;
  leases: ForeignLeases;
} {
  const clock = fakeClock();
  const server = leaseServer(() => clock.monotonic());
  const leases = createForeignLeases({ client: server.client, clock, identity: "me" });
  return { clock, server, leases, held: () => leases("ops", "219866ca.nacos.io") };
}

describe("Leases of other operators", () => {
  it("CORE-268 sees a peer as long as its Lease keeps changing, and its end when it stands still", async () => {
    const { clock, server, held } = start();
    for (let second = 0; second < 60; second += 10) {
      server.put({ holderIdentity: "peer", leaseDurationSeconds: 15, renewTime: `t${second}` });
      expect(await held()).toBe(true);
      await clock.advance(10_000);
    }
    expect(await held()).toBe(true);
    await clock.advance(5_001);
    expect(await held()).toBe(false);
  });

  it("CORE-268 goes by the Lease's own duration and by changes seen here, not by its times", async () => {
    const { clock, server, held } = start();
    server.put({
      holderIdentity: "peer",
      leaseDurationSeconds: 60,
      renewTime: "2001-01-01T00:00:00.000000Z",
    });
    expect(await held()).toBe(true);
    await clock.advance(59_999);
    expect(await held()).toBe(true);
    await clock.advance(1);
    expect(await held()).toBe(false);
  });

  it.each([
    ["no Lease", undefined],
    ["a Lease given back", { holderIdentity: "", leaseDurationSeconds: 1 }],
    ["its own Lease", { holderIdentity: "me", leaseDurationSeconds: 15 }],
  ])("CORE-268 sees nobody in %s", async (_what, spec) => {
    const { server, held } = start();
    server.put(spec);
    expect(await held()).toBe(false);
  });

  it("reads a Lease once in 2 s, however many ask", async () => {
    const { clock, server, held } = start();
    await Promise.all([held(), held(), held()]);
    await held();
    expect(server.calls).toEqual(["get"]);
    await clock.advance(2_000);
    await held();
    expect(server.calls).toEqual(["get", "get"]);
  });

  it("passes on that the Lease cannot be read", async () => {
    const { server, held } = start();
    server.failure = refused();
    await expect(held()).rejects.toThrow("refused");
    server.failure = undefined;
    expect(await held()).toBe(false);
  });
});
