import { afterEach, describe, expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { parseLogLevels } from "./levels.ts";
import { createLogging } from "./logger.ts";
import { startLoopMonitor } from "./loop-monitor.ts";

const lines: string[] = [];
const { log } = createLogging({
  levels: parseLogLevels("info"),
  destination: { write: (line) => lines.push(line) },
});

afterEach(() => {
  lines.length = 0;
});

describe("event-loop check", () => {
  it("CORE-281 fails when no timer fired for 10 s", async () => {
    const clock = fakeClock();
    let elapsed = 0;
    const monitor = startLoopMonitor({
      clock: { ...clock, monotonic: () => clock.monotonic() + elapsed },
      log,
      warnAboveMs: 2_000,
    });
    await clock.advance(60_000);
    expect(monitor.check()).toBeUndefined();
    elapsed = 9_000;
    expect(monitor.check()).toBeUndefined();
    elapsed = 10_001;
    expect(monitor.check()).toContain("no timer fired");
    await clock.advance(500);
    expect(monitor.check()).toBeUndefined();
    monitor.stop();
    expect(clock.pending).toBe(0);
  });

  it("CORE-258 logs a lag beyond the retry period", async () => {
    const clock = fakeClock();
    let elapsed = 0;
    startLoopMonitor({
      clock: { ...clock, monotonic: () => clock.monotonic() + elapsed },
      log,
      warnAboveMs: 2_000,
    });
    await clock.advance(1_000);
    elapsed = 1_900;
    await clock.advance(500);
    expect(lines).toEqual([]);
    elapsed += 2_100;
    await clock.advance(500);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: "Event loop was blocked", lagMs: 2_100 });
  });
});
