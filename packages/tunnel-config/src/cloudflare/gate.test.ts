import { fakeClock } from "@quartet/core/testkit";
import { describe, expect, it } from "vitest";
import { createGate, type Leave } from "./gate.ts";

describe("gate of a credential", () => {
  it("TUN-1010 lets three calls through at a time, and sends the next away when none of them ends", async () => {
    const clock = fakeClock();
    const gate = createGate(clock);
    const calls = [await gate.enter(), await gate.enter(), await gate.enter()];
    const fourth = gate.enter();
    await clock.advance(1_000);
    expect(await fourth).toBe(1_000);
    const fifth = gate.enter();
    (calls[0] as Leave)(true);
    expect(typeof (await fifth)).toBe("function");
  });

  it("TUN-1010 sends the next away at once when all calls under way take long", async () => {
    const clock = fakeClock();
    const gate = createGate(clock);
    const calls = [await gate.enter(), await gate.enter(), await gate.enter()];
    await clock.advance(1_001);
    expect(await gate.enter()).toBe(1_000);
    (calls[0] as Leave)(true);
    expect(typeof (await gate.enter())).toBe("function");
    // One that has just begun may end soon.
    const next = gate.enter();
    (calls[1] as Leave)(true);
    expect(typeof (await next)).toBe("function");
  });

  it("TUN-1010 after a call without an answer all are sent away for a while, then one is tried", async () => {
    const clock = fakeClock();
    const gate = createGate(clock);
    const [first, second] = [await gate.enter(), await gate.enter()];
    (first as Leave)(false);
    expect(await gate.enter()).toBe(2_000);
    (second as Leave)(false);
    await clock.advance(5_000);
    const probe = await gate.enter();
    const other = gate.enter();
    await clock.advance(1_000);
    expect(await other).toBe(1_000);
    (probe as Leave)(true);
    expect(await Promise.all([gate.enter(), gate.enter(), gate.enter()])).toEqual([
      expect.any(Function),
      expect.any(Function),
      expect.any(Function),
    ]);
  });
});
