import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { queueModel } from "./model.testkit.ts";
import { createQueue } from "./queue.ts";
import { LOW_PRIORITY } from "./types.ts";

const KEYS = ["a", "b", "c", "d"];

const key = fc.constantFrom(...KEYS);
const priority = fc.constantFrom(LOW_PRIORITY, 0, 0, 5);
const operation = fc.oneof(
  fc.record({ op: fc.constant("add" as const), key, priority }),
  fc.record({ op: fc.constant("addAfter" as const), key, priority, ms: fc.nat(40) }),
  fc.record({ op: fc.constant("take" as const) }),
  fc.record({ op: fc.constant("done" as const), key }),
  fc.record({ op: fc.constant("wait" as const), ms: fc.nat(30) }),
);

describe("queue, for any sequence of operations", () => {
  it("CORE-201 CORE-203 CORE-204 CORE-206 hands out what a simple model hands out, in the same order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 1, maxLength: 120, size: "max" }),
        async (operations) => {
          const clock = fakeClock();
          const queue = createQueue({ name: "p", clock });
          const model = queueModel();
          for (const step of operations) {
            if (step.op === "add") {
              queue.add(step.key, step);
              model.add(step.key, step.priority);
            } else if (step.op === "addAfter") {
              queue.addAfter(step.key, step.ms, step);
              model.addAfter(step.key, step.ms, step.priority);
            } else if (step.op === "take") {
              const item = queue.take();
              expect(item && { key: item.key, priority: item.priority, readySince: item.readySince }).toEqual(
                model.take(),
              );
            } else if (step.op === "done" && model.state(step.key) === "running") {
              queue.done(step.key);
              model.done(step.key);
            } else if (step.op === "wait") {
              await clock.advance(step.ms);
              model.wait(step.ms);
            }
            expect(KEYS.map((one) => queue.inspect(one).state)).toEqual(KEYS.map(model.state));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("CORE-201 CORE-202 every add is followed by a run that begins after it, and runs of a key never overlap", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 60, size: "max" }), async (operations) => {
        const clock = fakeClock();
        const queue = createQueue({ name: "p", clock });
        const running = new Set<string>();
        const owed = new Set<string>();
        const take = (): void => {
          const item = queue.take();
          if (item === undefined) return;
          expect(running.has(item.key)).toBe(false);
          running.add(item.key);
          owed.delete(item.key);
        };
        const finish = (one: string): void => {
          if (running.delete(one)) queue.done(one);
        };
        for (const step of operations) {
          if (step.op === "add") queue.add(step.key, step);
          if (step.op === "addAfter") queue.addAfter(step.key, step.ms, step);
          if (step.op === "add" || step.op === "addAfter") owed.add(step.key);
          if (step.op === "take") take();
          if (step.op === "done") finish(step.key);
          if (step.op === "wait") await clock.advance(step.ms);
        }
        await clock.advance(100);
        KEYS.forEach(finish);
        while (queue.length > 0) {
          take();
          KEYS.forEach(finish);
        }
        expect([...owed]).toEqual([]);
        expect(KEYS.map((one) => queue.inspect(one).state)).toEqual(KEYS.map(() => "absent"));
      }),
      { numRuns: 150 },
    );
  });

  it("CORE-205 an item with m older ready items runs within 8·(m+1) picks, whatever flood goes on", async () => {
    const flood = fc.array(fc.constantFrom(0, 0, 5, LOW_PRIORITY), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.nat(25), fc.nat(7), flood, async (older, picksBefore, priorities) => {
        const clock = fakeClock();
        const queue = createQueue({ name: "p", clock });
        const pick = (): string => {
          const { key: picked } = queue.take()!;
          queue.done(picked);
          return picked;
        };
        for (let i = 0; i < picksBefore; i += 1) {
          queue.add("before");
          pick();
        }
        for (let i = 0; i < older; i += 1) queue.add(`old${i}`, { priority: LOW_PRIORITY });
        queue.add("target", { priority: LOW_PRIORITY });
        let picks = 0;
        for (let picked = ""; picked !== "target"; picks += 1) {
          await clock.advance(1);
          for (const [index, urgent] of [0, ...priorities].entries()) {
            queue.add(`fresh${picks}-${index}`, { priority: urgent });
          }
          picked = pick();
        }
        expect(picks).toBeLessThanOrEqual(8 * (older + 1));
      }),
      { numRuns: 40 },
    );
  });
});
