import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ObjectKey } from "../object.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { type Answer, createProbes, type Probe, type Probes } from "./probes.ts";

const key: ObjectKey = { namespace: "a", name: "x" };
let clock: FakeClock;
let probes: Probes;
let queued: string[];
let stop: AbortController;
beforeEach(async () => {
  clock = fakeClock();
  probes = createProbes(clock, "test");
  queued = [];
  stop = new AbortController();
  await probes.source.start((at) => void queued.push(at.name), stop.signal);
});

/** Work that ends when the test says so. */
function held<T>(): { probe: Probe<T>; end: (value: T) => void; runs: () => number; signals: AbortSignal[] } {
  const ends: ((value: T) => void)[] = [];
  const signals: AbortSignal[] = [];
  return {
    probe: {
      topic: "t",
      fingerprint: "f",
      work(signal) {
        signals.push(signal);
        return new Promise<T>((resolve) => ends.push(resolve));
      },
    },
    end: (value) => ends.at(-1)?.(value),
    runs: () => ends.length,
    signals,
  };
}
const pass = async <T>(probe: Probe<T>, resource = key): Promise<Answer<T>> => {
  const answer = probes.probe(resource, probe);
  await clock.advance(250);
  return answer;
};
const quick = <T>(value: T, more: Partial<Probe<T>> = {}): Probe<T> & { runs: () => number } => {
  const work = vi.fn(async () => value);
  return { topic: "t", fingerprint: "f", work, runs: () => work.mock.calls.length, ...more };
};

describe("probe", () => {
  it("CORE-621 a quick answer is taken in the pass that asked, and each pass asks anew", async () => {
    const probe = quick(1);
    expect(await probes.probe(key, probe)).toMatchObject({ state: "ok", value: 1 });
    expect(await probes.probe(key, probe)).toMatchObject({ state: "ok", value: 1 });
    expect(probe.runs()).toBe(2);
    expect(queued).toEqual([]);
  });

  it("CORE-621 a slow answer queues the resource, and is handed out by the pass after that", async () => {
    const { probe, end, runs } = held<number>();
    expect(await pass(probe)).toEqual({ state: "pending" });
    expect(await probes.probe(key, probe)).toEqual({ state: "pending" });
    expect(probes.isBusy(key, "t")).toBe(true);
    end(7);
    await clock.advance(1);
    expect(queued).toEqual(["x"]);
    expect(await probes.probe(key, probe)).toMatchObject({ state: "ok", value: 7 });
    expect(runs()).toBe(1);
  });

  it("CORE-622 an answer holds for its time, and stands while the next is pending", async () => {
    const probe = quick(1, { ttlMs: 5_000 });
    await probes.probe(key, probe);
    await clock.advance(4_000);
    expect(await probes.probe(key, probe)).toMatchObject({ state: "ok", value: 1 });
    expect(probe.runs()).toBe(1);
    await clock.advance(1_000);
    const slow = held<number>();
    expect(await pass({ ...slow.probe, ttlMs: 5_000 })).toMatchObject({
      state: "pending",
      last: { value: 1 },
    });
  });

  it("CORE-622 the same question is not asked again before its time after a failure, another one at once", async () => {
    let runs = 0;
    const probe: Probe<number> = {
      topic: "t",
      fingerprint: "f",
      retryFloorMs: 4_000,
      work: async () => {
        runs += 1;
        throw new Error("refused");
      },
    };
    expect(await probes.probe(key, probe)).toMatchObject({ state: "failed", error: { message: "refused" } });
    await clock.advance(3_000);
    expect(await probes.probe(key, probe)).toMatchObject({ state: "failed" });
    expect(runs).toBe(1);
    await probes.probe(key, { ...probe, fingerprint: "g" });
    expect(runs).toBe(2);
    await clock.advance(4_000);
    await probes.probe(key, { ...probe, fingerprint: "g" });
    expect(runs).toBe(3);
  });

  it("CORE-623 work fails in its time, whether it minds the signal or not", async () => {
    const { probe, signals } = held<number>();
    await pass({ ...probe, timeoutMs: 10_000 });
    await clock.advance(10_000);
    expect(signals[0]?.aborted).toBe(true);
    expect(queued).toEqual(["x"]);
    expect(await probes.probe(key, probe)).toMatchObject({
      state: "failed",
      error: { message: "no answer within 10 s" },
    });
  });

  it("CORE-623 another question, the end of the resource and the end of the controller end the work", async () => {
    const { probe, signals, end } = held<number>();
    await pass(probe);
    await pass({ ...probe, fingerprint: "g" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    probes.forget(key);
    expect(signals[1]?.aborted).toBe(true);
    end(1);
    await clock.advance(1);
    expect(queued).toEqual([]);
    await pass(probe);
    stop.abort();
    expect(signals[2]?.aborted).toBe(true);
  });

  it("CORE-623 work that is ended while a pass waits for it is pending, and no failure of its target", async () => {
    for (const end of [() => probes.forget(key), () => probes.end(key, "t"), () => stop.abort()]) {
      const answer = probes.probe(key, {
        topic: "t",
        fingerprint: "f",
        work: (signal) =>
          new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
      });
      await clock.flush();
      end();
      expect(await answer).toEqual({ state: "pending" });
    }
  });

  it("CORE-624 a target that hung is not waited for again, until it answers quickly", async () => {
    const { probe, end } = held<number>();
    await pass(probe);
    await clock.advance(1_000);
    end(1);
    await clock.advance(1);
    expect(await probes.probe(key, probe)).toMatchObject({ state: "ok" });
    let answered = false;
    const again = probes.probe(key, probe).then((answer) => {
      answered = true;
      return answer;
    });
    await Promise.resolve();
    expect(await again).toMatchObject({ state: "pending", last: { value: 1 } });
    expect(answered).toBe(true);
    end(2);
    await clock.advance(1);
    await probes.probe(key, probe);
    expect(await probes.probe(key, quick(3, { fingerprint: "q" }))).toMatchObject({ state: "ok", value: 3 });
  });

  it("CORE-624 however many targets hang, those of other namespaces wait for none of them", async () => {
    const hung = Array.from({ length: 40 }, () => held<number>());
    for (const [index, { probe }] of hung.entries()) {
      void probes.probe({ namespace: "a", name: `hung-${index}` }, probe);
    }
    const runs = (): number => hung.reduce((sum, one) => sum + one.runs(), 0);
    await clock.advance(1);
    expect(runs()).toBe(16);
    expect(await probes.probe({ namespace: "b", name: "y" }, quick(1))).toMatchObject({ state: "ok" });
    await clock.advance(2_000);
    expect(runs()).toBe(32);
    probes.forget({ namespace: "a", name: "hung-39" });
    await clock.advance(2_000);
    expect(runs()).toBe(39);
  });
});
