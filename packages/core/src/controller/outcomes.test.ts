import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiError, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client, RequestOptions } from "../client/types.ts";
import { LOW_PRIORITY } from "../queue/types.ts";
import type { ControllerDeps } from "./controller.ts";
import { RetryAfterError, TerminalError } from "./errors.ts";
import { KEY, openScene, type Recorder, recorder, runKey, type Scene } from "./scene.testkit.ts";
import type { Controller, Result } from "./types.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const run = (record: Recorder, more: Partial<ControllerDeps> = {}): Promise<Controller> =>
  runKey(scene, record, (builder) => builder.for(things), more);

/** A reconcile that throws. */
const throwing = (error: () => unknown): Recorder =>
  recorder(async () => {
    throw error();
  });

describe("context", () => {
  it("CORE-226 hands over signal, log, id, client, cache, events, priority, attempt and gates", async () => {
    const { contexts, reconcile, keys } = recorder(async (_key, ctx) => {
      ctx.log.info("hello");
      return { requeueAfter: 100 };
    });
    await run({ contexts, reconcile, keys });
    const { features } = scene.deps;
    expect(contexts[0]).toMatchObject({ priority: 0, attempt: 0, features });
    expect(await contexts[0]?.cache.list(things)).toEqual([]);
    contexts[0]?.events.record(thing("a"), { type: "Normal", reason: "R", note: "" });
    expect(scene.events).toHaveLength(1);
    expect(await contexts[0]?.client.get(things, KEY).catch(() => "asked")).toBe("asked");
    expect(contexts[0]?.signal.aborted).toBe(false);
    await scene.clock.advance(200);
    const ids = contexts.map(({ reconcileID }) => reconcileID);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("CORE-232 a request of a reconcile ends with its signal, whether or not the call hands one over", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const outlets: ControllerDeps["outlets"] = () => ({
      ...scene.deps.outlets(true),
      client: {
        ...scene.server.client,
        get: (_kind: unknown, _key: unknown, options?: RequestOptions) => {
          signals.push(options?.signal);
          return new Promise((_resolve, reject) =>
            options?.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true }),
          );
        },
      } as Client,
    });
    const own = new AbortController();
    const record = recorder(async (key, { client }) => {
      await Promise.any([client.get(things, key), client.get(things, key, { signal: own.signal })]);
      return undefined;
    });
    await run(record, { outlets });
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
    own.abort();
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, true]);
    await scene.clock.advance(300_000);
    expect(signals[0]?.reason).toEqual(new Error("reconciliation timeout"));
    expect(scene.counts).toMatchObject({ timeout: 1, error: 1 });
  });

  it("CORE-285 the lines of a reconcile name its controller, its object and its run", async () => {
    const { contexts, reconcile, keys } = recorder(async (_key, ctx) => {
      ctx.log.info("hello");
      return undefined;
    });
    await run({ contexts, reconcile, keys });
    expect(scene.logged("hello")[0]?.fields).toMatchObject({
      controller: "echo",
      controllerGroup: "test.quartet.io",
      controllerKind: "Thing",
      Thing: { namespace: "t", name: "a" },
      namespace: "t",
      name: "a",
      reconcileID: contexts[0]?.reconcileID,
    });
  });
});

describe("success", () => {
  it("CORE-227 CORE-288 ends the run with one debug line and its duration", async () => {
    await run(recorder());
    const lines = scene.logged("Reconciled");
    expect(lines).toEqual([
      expect.objectContaining({ level: "debug", fields: expect.objectContaining({ seconds: 0 }) }),
    ]);
    expect(scene.logged("error")).toEqual([]);
    expect(scene.counts).toEqual({ success: 1 });
    await scene.clock.advance(3_600_000);
    expect(scene.counts).toEqual({ success: 1 });
  });

  it("CORE-227 CORE-229 runs again after requeueAfter, with jitter unless exact, and not before 100 ms", async () => {
    const results: (Result | undefined)[] = [
      { requeueAfter: 1000 },
      { requeueAfter: 1000, exact: true },
      { requeueAfter: 1, exact: true },
      undefined,
    ];
    const { keys, ...rest } = recorder(async () => results.shift());
    await run({ keys, ...rest });
    // Jitter is half of its 10 % here.
    const expectRunAfter = async (ms: number): Promise<void> => {
      const before = keys.length;
      await scene.clock.advance(ms - 1);
      expect(keys).toHaveLength(before);
      await scene.clock.advance(1);
      expect(keys).toHaveLength(before + 1);
    };
    await expectRunAfter(1050);
    await expectRunAfter(1000);
    await expectRunAfter(100);
    await scene.clock.advance(3_600_000);
    expect(keys).toHaveLength(4);
    expect(scene.counts).toEqual({ requeue_after: 3, success: 1 });
  });

  it.each([
    [0, 1000],
    [0.999_999, 1100],
  ])("CORE-229 jitter is between 0 and 10 percent: with %f the run comes after %i ms", async (random, ms) => {
    const record = recorder(async () => ({ requeueAfter: 1000 }));
    await run(record, { random: () => random });
    await scene.clock.advance(ms - 1);
    expect(record.keys).toHaveLength(1);
    await scene.clock.advance(1);
    expect(record.keys).toHaveLength(2);
  });

  it("CORE-203 CORE-227 a delayed run has the priority that the result names, or else that of the run", async () => {
    const results: (Result | undefined)[] = [
      { requeueAfter: 100, priority: LOW_PRIORITY },
      { requeueAfter: 100 },
      undefined,
    ];
    const record = recorder(async () => results.shift());
    await run(record);
    await scene.clock.advance(400);
    expect(record.contexts.map(({ priority }) => priority)).toEqual([0, LOW_PRIORITY, LOW_PRIORITY]);
  });

  it("CORE-208 a success and a requeueAfter forget the failures before them", async () => {
    const record = recorder(async (_key, { attempt }) => {
      if (record.keys.length % 3 !== 0) throw new Error(`failure ${attempt}`);
      return { requeueAfter: 100, exact: true };
    });
    await run(record);
    await scene.clock.advance(5 + 10 + 100 + 5 + 10);
    expect(record.contexts.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it("CORE-228 takes a NotFound of the key's own object for a success, and no other", async () => {
    const { group } = things;
    const notFound = (details: { name: string; kind: string; group?: string }) =>
      Object.assign(apiError(404, "not found"), { details: { ...details, causes: [] } });
    const errors = [
      notFound({ name: "b", kind: "things", group }),
      notFound({ name: "a", kind: "parts", group }),
      notFound({ name: "a", kind: "things", group: "apps.example.io" }),
      notFound({ name: "a", kind: "things" }),
      notFound({ name: "a", kind: "things", group }),
    ];
    const record = throwing(() => errors.shift());
    await run(record);
    await scene.clock.advance(1_000);
    expect(scene.counts).toEqual({ error: 4, success: 1 });
  });
});

describe("failure", () => {
  it("CORE-227 CORE-288 is tried again with backoff, told by one error line each, and counted", async () => {
    const record = recorder(async (_key, { attempt }) => {
      if (attempt < 3) throw new Error("boom");
      return undefined;
    });
    await run(record);
    const times: number[] = [];
    for (let ms = 0; ms <= 40; ms += 1) {
      while (times.length < record.keys.length) times.push(ms);
      await scene.clock.advance(1);
    }
    expect(times).toEqual([0, 5, 15, 35]);
    expect(scene.logged("error").map(({ msg }) => msg)).toEqual(Array(3).fill("Reconciler error"));
    expect(scene.counts).toEqual({ error: 3, success: 1 });
  });

  it("CORE-204 keeps its priority", async () => {
    const record = throwing(() => new Error("boom"));
    const controller = await run(record);
    controller.enqueue({ namespace: "t", name: "b" }, { priority: 7 });
    await scene.clock.advance(5);
    expect(record.contexts.map(({ priority }) => priority)).toEqual([0, 7, 7, 0]);
  });

  it("CORE-209 a change runs a key in backoff at once", async () => {
    const record = throwing(() => new Error("boom"));
    const controller = await run(record);
    await scene.clock.advance(5 + 10 + 20 + 40);
    expect(record.keys).toHaveLength(5);
    controller.enqueue(KEY);
    await scene.clock.flush();
    expect(record.contexts.at(-1)?.attempt).toBe(5);
  });

  it.each<[string, () => unknown]>([
    ["itself", () => new TerminalError("hopeless")],
    ["as a cause", () => new Error("outer", { cause: new TerminalError("hopeless") })],
  ])("CORE-227 a terminal error, %s, is not tried again and counted twice", async (_how, error) => {
    const record = throwing(error);
    const controller = await run(record);
    await scene.clock.advance(3_600_000);
    expect(record.keys).toHaveLength(1);
    expect(scene.counts).toEqual({ error: 1, terminal: 1 });
    expect(scene.logged("Reconciler error")).toHaveLength(1);
    expect(controller.explain(KEY).queue).toEqual({ state: "absent", attempt: 0 });
  });

  it("CORE-208 a terminal error forgets the failures before it", async () => {
    const errors = [new Error("boom"), new Error("boom"), new TerminalError("hopeless")];
    const record = throwing(() => errors.shift());
    const controller = await run(record);
    await scene.clock.advance(5);
    expect(controller.explain(KEY).queue).toMatchObject({ attempt: 2 });
    await scene.clock.advance(10);
    expect(controller.explain(KEY).queue).toEqual({ state: "absent", attempt: 0 });
  });

  it.each<[string, () => unknown]>([
    ["itself", () => new RetryAfterError("slow down", 90_000)],
    ["as a cause", () => new Error("outer", { cause: new RetryAfterError("slow down", 90_000) })],
  ])(
    "CORE-227 a RetryAfterError, %s, runs the key again after its time exactly, and is no failure",
    async (_how, error) => {
      const record = throwing(error);
      const controller = await run(record);
      await scene.clock.advance(89_999);
      expect(record.keys).toHaveLength(1);
      await scene.clock.advance(1);
      expect(record.keys).toHaveLength(2);
      expect(record.contexts.map(({ attempt }) => attempt)).toEqual([0, 0]);
      expect(scene.counts).toEqual({ requeue_after: 2 });
      expect(scene.logged("error")).toEqual([]);
      expect(scene.logged("Reconcile waits as it was asked to")[0]).toMatchObject({
        level: "info",
        fields: { afterMs: 90_000 },
      });
      expect(controller.explain(KEY)).toMatchObject({ queue: { dueInMs: 90_000 } });
    },
  );

  it("CORE-227 a RetryAfterError asks for an hour at most and 100 ms at least, and a change runs the key at once", async () => {
    const waits = [7_200_000, -1, Number.POSITIVE_INFINITY];
    const record = throwing(() => new RetryAfterError("slow down", waits.shift() ?? 60_000));
    const controller = await run(record);
    expect(controller.explain(KEY)).toMatchObject({ queue: { dueInMs: 3_600_000 } });
    controller.enqueue(KEY);
    await scene.clock.flush();
    expect(controller.explain(KEY)).toMatchObject({ queue: { dueInMs: 100 } });
    await scene.clock.advance(100);
    expect(controller.explain(KEY)).toMatchObject({ queue: { dueInMs: 3_600_000 } });
  });

  it("CORE-227 a requeueAfter that is thrown is ignored, with a warning", async () => {
    const record = throwing(() => Object.assign(new Error("boom"), { requeueAfter: 60_000 }));
    await run(record);
    await scene.clock.advance(5);
    expect(record.keys).toHaveLength(2);
    expect(scene.logged("warn")[0]?.msg).toBe("requeueAfter of a reconcile that failed is ignored");
  });

  it("CORE-228 CORE-288 conflicts are told at info until the fifth in a row, and count anew after another outcome", async () => {
    const conflict = () => apiError(409, "the object has been modified", { reason: "Conflict" });
    let other: Error | undefined;
    const record = throwing(() => other ?? conflict());
    await run(record);
    const tell = () => [
      scene.logged("info").filter(({ msg }) => msg.startsWith("object")).length,
      scene.logged("error").length,
    ];
    await scene.clock.advance(5 + 10 + 20);
    expect(record.keys).toHaveLength(4);
    expect(tell()).toEqual([4, 0]);
    await scene.clock.advance(40);
    expect(tell()).toEqual([4, 1]);
    other = new Error("boom");
    await scene.clock.advance(80);
    other = undefined;
    await scene.clock.advance(160);
    expect(tell()).toEqual([5, 2]);
  });
});

describe("panic", () => {
  it.each<[string, () => unknown]>([
    ["a TypeError", () => new TypeError("x is not a function")],
    ["a ReferenceError", () => new ReferenceError("x is not defined")],
    ["a RangeError", () => new RangeError("invalid array length")],
    ["something that is no Error", () => "oops"],
  ])("CORE-230 %s is counted, logged and tried again, and the process lives", async (_what, error) => {
    const record = throwing(error);
    await run(record);
    await scene.clock.advance(5);
    expect(record.keys).toHaveLength(2);
    expect(scene.counts).toEqual({ panic: 2, error: 2 });
    expect(scene.logged("Reconciler error")[0]?.fields).toMatchObject({ panic: true });
  });

  it("CORE-230 an ordinary error is none", async () => {
    await run(throwing(() => apiError(500, "etcd is on fire")));
    expect(scene.counts).toEqual({ error: 1 });
  });

  it("CORE-230 is reported as fatal when the process shall end with one", async () => {
    const fatal: unknown[] = [];
    const error = new TypeError("x");
    await run(
      throwing(() => error),
      { onFatal: (reported) => fatal.push(reported) },
    );
    expect(fatal).toEqual([error]);
  });
});

it("explains the state of a key", async () => {
  const controller = await run(throwing(() => new Error("password of https://u:hunter2@db is wrong")));
  expect(controller.explain(KEY)).toMatchObject({
    controller: "echo",
    state: "Running",
    queue: { state: "waiting", attempt: 1, dueInMs: 5 },
    nextPass: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.005Z$/),
    lastOutcome: { result: "error", error: "password of https://u:[redacted]@db is wrong" },
  });
  const never = controller.explain({ namespace: "t", name: "never" });
  expect(never).toMatchObject({ nextPass: "when something changes", lastOutcome: undefined });
});

describe("dry run", () => {
  /** A planner by whose count the same was planned in every run so far. */
  const plannedRuns = (): NonNullable<ControllerDeps["plannedRuns"]> => {
    let runs = 0;
    return { begin: () => {}, end: () => ++runs };
  };

  it("CORE-243 a controller that waits for what it planned is run ever more seldom, at least every 5 min", async () => {
    const record = recorder(async () => ({ requeueAfter: 100 }));
    await run(record, { plannedRuns: plannedRuns() });
    expect(record.contexts[0]?.dryRun).toBe(true);
    await scene.clock.advance(60_000);
    // After 1, 2, 4, 8, 16 s and then 32 s
    expect(record.keys).toHaveLength(6);
    await scene.clock.advance(60 * 60_000);
    const before = record.keys.length;
    await scene.clock.advance(60 * 60_000);
    expect(record.keys.length - before).toBeGreaterThanOrEqual(10);
    expect(record.keys.length - before).toBeLessThanOrEqual(12);
  });

  it("CORE-243 without anything planned, and for longer waits, the controller's own wait stands", async () => {
    const record = recorder(async () => ({ requeueAfter: 10_000, exact: true }));
    await run(record, { plannedRuns: { begin: () => {}, end: () => 0 } });
    await scene.clock.advance(100_000);
    expect(record.keys).toHaveLength(11);
  });
});
