import { describe, expect, it } from "vitest";
import type { WriteInfo } from "../client/types.ts";
import { LEASE } from "../kinds/index.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { LeadershipLostError } from "./errors.ts";
import { createFence, openFence } from "./fence.ts";
import { stamp } from "./stamp.ts";

const write: WriteInfo = {
  verb: "apply",
  kind: LEASE,
  key: { namespace: "n", name: "x" },
  dryRun: false,
};

describe("fence", () => {
  it("CORE-257 lets writes through for one renew deadline after a renewal, and counts those it keeps back", () => {
    const clock = fakeClock();
    let elapsed = 0;
    let fenced = 0;
    const own = { ...clock, monotonic: () => elapsed, now: () => elapsed };
    const fence = createFence({ clock: own, renewDeadlineMs: 10_000, onFenced: () => fenced++ });
    const attempt = (): void => fence.hooks.beforeWrite!(write);
    expect(attempt).toThrow(LeadershipLostError);
    fence.renewed(stamp(own));
    elapsed = 9_999;
    expect(attempt).not.toThrow();
    elapsed = 10_000;
    expect(attempt).toThrow(/apply of leases not sent/);
    fence.renewed(stamp(own));
    fence.shut();
    expect(attempt).toThrow(LeadershipLostError);
    expect(fenced).toBe(3);
  });

  it("CORE-257 counts the wall clock too, for machines whose monotonic clock stood still", () => {
    const clock = fakeClock();
    let wall = 1_000_000;
    const own = { ...clock, monotonic: () => 0, now: () => wall };
    const fence = createFence({ clock: own, renewDeadlineMs: 10_000 });
    fence.renewed(stamp(own));
    wall -= 3_600_000;
    expect(fence.isOpen()).toBe(true);
    wall += 3_600_000 + 10_000;
    expect(fence.isOpen()).toBe(false);
  });

  it("is open without leader election", () => {
    expect(openFence().isOpen()).toBe(true);
    expect(openFence().hooks.beforeWrite).toBeUndefined();
  });
});
