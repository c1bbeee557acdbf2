import { describe, expect, it } from "vitest";
import { parseLogLevels } from "../observe/levels.ts";
import { createLogging } from "../observe/logger.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { type ShutdownOutcome, type ShutdownSteps, shutDown } from "./shutdown.ts";

const never = (): Promise<never> => new Promise(() => {});

function start(
  timeoutMs: number,
  changes: Partial<ShutdownSteps> = {},
): { clock: FakeClock; trace: string[]; outcome: () => ShutdownOutcome | undefined; lines: string[] } {
  const clock = fakeClock();
  const trace: string[] = [];
  const lines: string[] = [];
  const { log } = createLogging({
    levels: parseLogLevels("info"),
    destination: { write: (line) => lines.push(line) },
    clock,
  });
  const note = (what: string): void => void trace.push(`${clock.monotonic()} ${what}`);
  const steps: ShutdownSteps = {
    begin: () => note("begin"),
    async stopWork(drainMs) {
      note(`work ${drainMs}`);
      return [];
    },
    stopCaches: async () => note("caches"),
    flushEvents: async (ms) => note(`events ${ms}`),
    releaseLease: async (ended) => note(`lease ${ended}`),
    stopWebhooks: async () => note("webhooks"),
    stopServers: async () => note("servers"),
    ...changes,
  };
  let outcome: ShutdownOutcome | undefined;
  void shutDown(steps, { clock, log, timeoutMs, webhookDelayMs: 5_000 }).then((result) => (outcome = result));
  return { clock, trace, outcome: () => outcome, lines };
}

describe("shutdown", () => {
  it("CORE-262 goes work, events, lease, webhooks, the caches that they read, servers, with 20 s for reconciles and 2 s for events", async () => {
    const { clock, trace, outcome } = start(30_000);
    await clock.advance(5_000);
    expect(trace).toEqual([
      "0 begin",
      "0 work 20000",
      "0 events 2000",
      "0 lease true",
      "5000 webhooks",
      "5000 caches",
      "5000 servers",
    ]);
    expect(outcome()).toEqual({ inTime: true, stuck: [] });
    expect(clock.pending).toBe(0);
  });

  it("CORE-263 serves webhooks for 5 s after the beginning, and no longer when the work took longer", async () => {
    const slow = start(30_000);
    await slow.clock.advance(4_999);
    expect(slow.trace.at(-1)).toBe("0 lease true");
    let end = (_stuck: readonly string[]): void => {};
    const busy = start(30_000, { stopWork: () => new Promise((resolve) => (end = resolve)) });
    await busy.clock.advance(8_000);
    end([]);
    await busy.clock.flush();
    expect(busy.trace.slice(-3)).toEqual(["8000 webhooks", "8000 caches", "8000 servers"]);
  });

  it("does not wait for webhooks that are not served", async () => {
    const { clock, outcome } = start(30_000, { stopWebhooks: undefined as never });
    await clock.flush();
    expect(outcome()).toEqual({ inTime: true, stuck: [] });
  });

  it("CORE-262 names stuck keys, is not in time then, and keeps the Lease", async () => {
    const { clock, trace, outcome } = start(30_000, { stopWork: async () => ["tars: n/a"] });
    await clock.advance(5_000);
    expect(outcome()).toEqual({ inTime: false, stuck: ["tars: n/a"] });
    expect(trace).toContain("0 lease false");
  });

  it("CORE-262 ends at the limit whatever hangs", async () => {
    const { clock, trace, outcome, lines } = start(30_000, { stopWork: never });
    await clock.advance(29_999);
    expect(outcome()).toBeUndefined();
    await clock.advance(1);
    await clock.advance(0);
    expect(outcome()?.inTime).toBe(false);
    expect(trace).toContain("30000 lease false");
    expect(trace.at(-1)).toBe("30000 servers");
    expect(lines.join("")).toContain('"step":"work"');
  });

  it("CORE-262 waits for no reconcile with 0 and without limit below 0", async () => {
    const none = start(0);
    await none.clock.flush();
    expect(none.trace[1]).toBe("0 work 0");
    expect(none.outcome()).toEqual({ inTime: true, stuck: [] });
    const endless = start(-1, { stopCaches: never });
    await endless.clock.advance(24 * 3_600_000);
    expect(endless.trace[1]).toBe("0 work Infinity");
    expect(endless.outcome()).toBeUndefined();
  });

  it("CORE-265 logs a step that fails and goes on", async () => {
    const { clock, trace, outcome, lines } = start(30_000, {
      stopCaches: async () => {
        throw new Error("cache broke");
      },
    });
    await clock.advance(5_000);
    expect(trace.at(-1)).toBe("5000 servers");
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "error", step: "caches", error: "cache broke" });
    expect(outcome()?.inTime).toBe(true);
  });
});
