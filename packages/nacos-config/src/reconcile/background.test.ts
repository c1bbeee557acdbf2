import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { type Background, createBackground } from "./background.ts";

const KEY = { namespace: "ns", name: "demo" };

/** Work whose end the test decides. */
function openWork(): {
  readonly work: (signal: AbortSignal) => Promise<string>;
  readonly signals: AbortSignal[];
  end(value: string): void;
  fail(error: Error): void;
} {
  const signals: AbortSignal[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    signals,
    work: (signal) => {
      signals.push(signal);
      return promise;
    },
    end: resolve,
    fail: reject,
  };
}

describe("work in the background", () => {
  let clock: FakeClock;
  let queued: string[];
  let background: Background;
  beforeEach(() => {
    clock = fakeClock();
    queued = [];
    background = createBackground(clock, ({ name }) => queued.push(name));
  });

  it("hands a quick answer to the pass that asked, and queues nothing", async () => {
    const answer = await background.ask(KEY, "health", "a", async () => "up");
    expect(answer).toEqual({ state: "done", value: "up" });
    await clock.advance(60_000);
    expect(queued).toEqual([]);
  });

  it("NACOS-905 lets the pass go on without a slow answer, queues the resource when it comes, and hands it out once", async () => {
    const slow = openWork();
    const first = background.ask(KEY, "health", "a", slow.work);
    await clock.advance(1_000);
    expect(await first).toEqual({ state: "pending" });
    // Passes meanwhile neither wait nor start the work again.
    expect(await background.ask(KEY, "health", "a", slow.work)).toEqual({ state: "pending" });
    expect(queued).toEqual([]);
    slow.end("late");
    await clock.flush();
    expect(queued).toEqual(["demo"]);
    expect(await background.ask(KEY, "health", "a", slow.work)).toEqual({ state: "done", value: "late" });
    expect(slow.signals).toHaveLength(1);
    await background.ask(KEY, "health", "a", slow.work);
    expect(slow.signals).toHaveLength(2);
  });

  it("NACOS-905 a pass that need not wait goes on at once, and the answer queues the resource all the same", async () => {
    const slow = openWork();
    expect(await background.ask(KEY, "database", "a", slow.work, false)).toEqual({ state: "pending" });
    slow.end("late");
    await clock.flush();
    expect(queued).toEqual(["demo"]);
    expect(await background.ask(KEY, "database", "a", slow.work, false)).toMatchObject({ value: "late" });
  });

  it("ends work whose question has changed, and never hands out its answer", async () => {
    const old = openWork();
    const asked = background.ask(KEY, "database", "old", old.work);
    await clock.advance(1_000);
    await asked;
    expect(await background.ask(KEY, "database", "new", async () => "new")).toMatchObject({ value: "new" });
    expect(old.signals[0]?.aborted).toBe(true);
    old.end("old");
    const another = openWork();
    const last = background.ask(KEY, "database", "another", another.work);
    await clock.advance(1_000);
    await last;
    background.end(KEY, "database");
    expect(another.signals[0]?.aborted).toBe(true);
    another.end("another");
    await clock.flush();
    expect(queued).toEqual([]);
  });

  it("throws what the work threw, also when it was late", async () => {
    const slow = openWork();
    const asked = background.ask(KEY, "health", "a", slow.work);
    await clock.advance(1_000);
    await asked;
    expect(background.isBusy(KEY, "health")).toBe(true);
    expect(background.isBusy(KEY, "database")).toBe(false);
    slow.fail(new Error("broken"));
    await clock.flush();
    expect(background.isBusy(KEY, "health")).toBe(false);
    expect(queued).toEqual(["demo"]);
    await expect(background.ask(KEY, "health", "a", slow.work)).rejects.toThrow("broken");
  });

  it("NACOS-721 work that is ended while a pass waits for it is no failure that the pass reports", async () => {
    for (const end of [() => background.stop(), () => background.forget(KEY)]) {
      const work = openWork();
      const asked = background.ask(KEY, "database", "a", work.work);
      await clock.flush();
      end();
      work.fail(new Error("aborted"));
      expect(await asked).toEqual({ state: "pending" });
    }
  });

  it("ends the work of a resource that is forgotten, and of all at the stop", async () => {
    const works = [openWork(), openWork()];
    const other = { namespace: "ns", name: "other" };
    const asked = [
      background.ask(KEY, "health", "a", works[0]!.work),
      background.ask(other, "health", "a", works[1]!.work),
    ];
    await clock.advance(1_000);
    await Promise.all(asked);
    background.forget(KEY);
    expect(works.map(({ signals }) => signals[0]?.aborted)).toEqual([true, false]);
    background.stop();
    expect(works[1]?.signals[0]?.aborted).toBe(true);
    works[0]?.end("");
    works[1]?.end("");
    await clock.flush();
    expect(queued).toEqual([]);
  });
});
