import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCache } from "../cache/cache.ts";
import { type FakeServer, fakeServer } from "../cache/fake-server.testkit.ts";
import { apiError, type LogLine, memoryLog, thing, things, worlds } from "../cache/fixtures.testkit.ts";
import type { Cache } from "../cache/types.ts";
import { type FakeClock, fakeClock } from "../clock.testkit.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import type { EventRecorder } from "../observe/types.ts";
import { LOW_PRIORITY } from "../queue/types.ts";
import { createControllerBuilder } from "./builder.ts";
import type { ControllerDeps } from "./controller.ts";
import { TerminalError } from "./errors.ts";
import type { ControllerObserver } from "./observer.ts";
import { handleRejections } from "./rejections.ts";
import { channel, interval } from "./sources.ts";
import type { Controller, ControllerBuilder, Reconcile, ReconcileContext } from "./types.ts";

let clock: FakeClock;
let server: FakeServer;
let cache: Cache;
let lines: LogLine[];
let counts: Record<string, number>;
let names: Set<string>;
let stopAll: AbortController;
const running: Controller[] = [];

function deps(more: Partial<ControllerDeps> = {}): ControllerDeps {
  const log = memoryLog();
  lines = log.lines;
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const observer: ControllerObserver = {
    onReconcile: (_name, result) => count(result),
    onTerminalError: () => count("terminal"),
    onPanic: () => count("panic"),
    onTimeout: () => count("timeout"),
  };
  return {
    cache,
    client: server.client,
    clock,
    log: log.log,
    events: { record: () => {} } satisfies EventRecorder,
    features: { Gate: true },
    defaults: { maxConcurrentReconciles: 4, reconcileTimeoutMs: 300_000, needLeaderElection: true },
    cacheSyncTimeoutMs: 120_000,
    observer,
    random: () => 0.5,
    ...more,
  };
}

const builder = (more: Partial<ControllerDeps> = {}, name = "echo"): ControllerBuilder =>
  createControllerBuilder(name, deps(more), names);

/** Starts a controller and waits until it has worked off what there is. */
async function start(controller: Controller): Promise<{ done: Promise<void> }> {
  running.push(controller);
  const done = controller.run(stopAll.signal);
  done.catch(() => {});
  await clock.flush();
  await clock.flush();
  return { done };
}

/** A reconcile that notes its keys. */
function recorder(act: (key: ObjectKey, ctx: ReconcileContext) => ReturnType<Reconcile> = async () => {}): {
  keys: string[];
  contexts: ReconcileContext[];
  reconcile: Reconcile;
} {
  const keys: string[] = [];
  const contexts: ReconcileContext[] = [];
  return {
    keys,
    contexts,
    reconcile: (key, ctx) => {
      keys.push(keyToString(key));
      contexts.push(ctx);
      return act(key, ctx);
    },
  };
}

beforeEach(() => {
  clock = fakeClock();
  server = fakeServer();
  counts = {};
  names = new Set();
  stopAll = new AbortController();
  cache = createCache({ client: server.client, clock, log: memoryLog().log, guard: true });
});
afterEach(async () => {
  const stopped = running.splice(0).map((controller) => controller.stop(0));
  await clock.advance(2000);
  await Promise.all(stopped);
  stopAll.abort();
  await cache.stop();
});

describe("builder", () => {
  const nothing: Reconcile = async () => {};

  it.each<[string, () => unknown, RegExp]>([
    ["`for` twice", () => builder().for(things).for(things), /"echo": `for` is called twice/],
    ["`owns` without `for`", () => builder().owns(things).complete(nothing), /"echo": `owns` needs `for`/],
    ["no source", () => builder().complete(nothing), /"echo": it has no source/],
    ["a bad name", () => builder({}, "Echo_1"), /"Echo_1": its name must match/],
    ["a name that is taken", () => [builder(), builder()], /"echo": there is one of this name already/],
  ])("CORE-220 refuses %s and names the controller", (_what, build, message) => {
    expect(build).toThrow(message);
  });
});

describe("sources", () => {
  it("CORE-235 reconciles nothing before all its informers are synced, then what is there", async () => {
    server.put(thing("a", { namespace: "t" }));
    server.refuse("list", apiError(500, "not now"), 100);
    server.refuse("watch", apiError(500, "not now"), 100);
    const { keys, contexts, reconcile } = recorder();
    await start(builder().for(things).owns(worlds).complete(reconcile));
    expect(keys).toEqual([]);
    server.accept();
    await clock.advance(60_000);
    expect(keys).toEqual(["t/a"]);
    expect(contexts[0]?.priority).toBe(LOW_PRIORITY);
  });

  it("CORE-221 queues the controlling owner of old and new object, at any version of its group and kind", async () => {
    const reference = (name: string, more: object = {}) => ({
      apiVersion: `${things.group}/v9`,
      kind: "Thing",
      name,
      uid: name,
      controller: true,
      ...more,
    });
    const child = (name: string, references: object[]) =>
      thing(name, {
        namespace: "t",
        kind: "Part",
        metadata: { name, namespace: "t", ownerReferences: references },
      } as never);
    const parts = { ...things, kind: "Part", plural: "parts" };
    const { keys, reconcile } = recorder();
    await start(builder().for(things).owns(parts).complete(reconcile));
    server.put(child("p", [reference("a"), reference("b", { controller: false })]), parts);
    await clock.flush();
    expect(keys.splice(0)).toEqual(["t/a"]);
    server.put(child("p", [reference("c")]), parts);
    await clock.flush();
    expect(keys.splice(0).sort()).toEqual(["t/a", "t/c"]);
    server.put(child("q", [reference("d", { apiVersion: "other.io/v1" })]), parts);
    await clock.flush();
    expect(keys).toEqual([]);
  });

  it("CORE-222 maps old and new object, each key once, and tries a map function that throws again", async () => {
    let failures = 2;
    const { keys, reconcile } = recorder();
    const map = (object: { spec?: { owner?: string } | undefined }): ObjectKey[] => {
      if (failures > 0) {
        failures -= 1;
        throw new Error("not yet");
      }
      return [{ namespace: "m", name: object.spec?.owner ?? "none" }];
    };
    await start(
      builder()
        .watches(things, map as never)
        .complete(reconcile),
    );
    server.put(thing("a", { namespace: "t", spec: { owner: "x" } }));
    await clock.advance(200);
    expect(keys.splice(0)).toEqual(["m/x"]);
    server.put(thing("a", { namespace: "t", spec: { owner: "y" } }));
    await clock.flush();
    expect(keys.splice(0)).toEqual(["m/x", "m/y"]);
    failures = 100;
    server.put(thing("b", { namespace: "t", spec: { owner: "z" } }));
    await clock.advance(10_000);
    expect(keys).toEqual([]);
    expect(lines.filter(({ msg }) => msg === "map function failed, event lost")).toHaveLength(1);
  });

  it("CORE-224 is not triggered by a status write, and by labels, annotations, spec and deletion", async () => {
    const { keys, reconcile } = recorder();
    await start(builder().for(things).complete(reconcile));
    const base = thing("a", {
      namespace: "t",
      metadata: { name: "a", namespace: "t", generation: 1 },
    } as never);
    const put = async (metadata: object, more: object = {}): Promise<number> => {
      keys.length = 0;
      server.put({ ...base, ...more, metadata: { ...base.metadata, ...metadata } });
      await clock.flush();
      return keys.length;
    };
    expect(await put({})).toBe(1);
    expect(await put({}, { status: { ready: true } })).toBe(0);
    expect(await put({ generation: 2 })).toBe(1);
    expect(await put({ generation: 2, labels: { a: "b" } })).toBe(1);
    expect(await put({ generation: 2, labels: { a: "b" }, annotations: { a: "b" } })).toBe(1);
    const last = { generation: 2, labels: { a: "b" }, annotations: { a: "b" } };
    expect(await put({ ...last, deletionTimestamp: "2026-01-01T00:00:00Z" })).toBe(1);
  });

  it("CORE-225 takes events from channels and from an interval", async () => {
    const { keys, reconcile } = recorder();
    const events = channel("events");
    events.send({ namespace: "t", name: "early" });
    const tick = interval("tick", 1000, () => [{ namespace: "t", name: "tick" }], clock);
    await start(builder().watchesRaw(events).watchesRaw(tick).complete(reconcile));
    events.send({ namespace: "t", name: "live" });
    await clock.advance(2500);
    expect(keys).toEqual(["t/early", "t/live", "t/tick", "t/tick"]);
  });

  it("CORE-236 waits for a missing kind, starts when it appears, and pauses without acting on deletes when it goes", async () => {
    server.refuse("watch", apiError(404, "no such kind"), 1000);
    server.refuse("list", apiError(404, "no such kind"), 1000);
    const { keys, reconcile } = recorder();
    const controller = builder().for(things).complete(reconcile);
    await start(controller);
    expect(controller.state).toBe("WaitingForCRD");
    server.accept();
    server.put(thing("a", { namespace: "t" }));
    await clock.advance(15_000);
    expect(controller.state).toBe("Running");
    expect(keys.splice(0)).toEqual(["t/a"]);

    server.refuse("watch", apiError(404, "no such kind"), 1000);
    server.refuse("list", apiError(404, "no such kind"), 1000);
    server.cut();
    await clock.advance(5000);
    expect(controller.state).toBe("WaitingForCRD");
    controller.enqueue({ namespace: "t", name: "a" });
    await clock.advance(1000);
    expect(keys).toEqual([]);
  });

  it("CORE-237 runs without an optional kind that is missing", async () => {
    const parts = { ...things, kind: "Part", plural: "parts" };
    server.put(thing("a", { namespace: "t" }));
    const { client } = server;
    const missing = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(apiError(404, "no such kind")) }),
    });
    const partial = {
      ...client,
      watch: (kind: typeof things, options: never) =>
        kind.kind === "Part" ? missing() : client.watch(kind, options),
      pages: (kind: typeof things, options: never) =>
        kind.kind === "Part" ? missing() : client.pages(kind, options),
    } as typeof client;
    cache = createCache({ client: partial, clock, log: memoryLog().log });
    const { keys, reconcile } = recorder();
    const controller = builder().for(things).owns(parts, { optional: true }).complete(reconcile);
    await start(controller);
    expect(keys).toEqual(["t/a"]);
    expect(lines.filter(({ level, fields }) => level === "warn" && fields.kind === "Part")).toHaveLength(1);
  });

  it("CORE-238 fails after two minutes of a forbidden list and recovers", async () => {
    server.refuse("watch", apiError(403, "things is forbidden: User cannot list"), 1000);
    server.refuse("list", apiError(403, "things is forbidden: User cannot list"), 1000);
    const controller = builder()
      .for(things)
      .complete(async () => {});
    await start(controller);
    expect(lines.some(({ fields }) => String(fields.error).includes("things is forbidden"))).toBe(true);
    await clock.advance(110_000);
    expect(controller.state).toBe("Syncing");
    await clock.advance(20_000);
    expect(controller.state).toBe("Failed");
    server.accept();
    await clock.advance(30_000);
    expect(controller.state).toBe("Running");
  });

  it("CORE-184 gives up with the kind and its last error when the caches do not sync in time", async () => {
    server.refuse("watch", apiError(500, "etcd is on fire"), 10_000);
    server.refuse("list", apiError(500, "etcd is on fire"), 10_000);
    const { done } = await start(
      builder()
        .for(things)
        .complete(async () => {}),
    );
    const failure = done.catch((error: Error) => error.message);
    await clock.advance(121_000);
    expect(await failure).toMatch(/"echo": caches did not sync in time: Thing of .*etcd is on fire/);
  });
});

describe("outcomes", () => {
  const key = { namespace: "t", name: "a" };
  async function run(
    act: (key: ObjectKey, ctx: ReconcileContext) => ReturnType<Reconcile>,
    more: Partial<ControllerDeps> = {},
  ) {
    const record = recorder(act);
    const controller = builder(more).for(things).complete(record.reconcile);
    await start(controller);
    controller.enqueue(key);
    await clock.flush();
    return { ...record, controller };
  }

  it("CORE-226 hands over signal, log, id, client, cache, priority, attempt and gates", async () => {
    const { contexts } = await run(async () => {});
    const [ctx] = contexts;
    expect(ctx?.reconcileID).toMatch(/^[0-9a-f]{8}-/);
    expect(ctx?.signal.aborted).toBe(false);
    expect(ctx).toMatchObject({
      cache,
      client: server.client,
      priority: 0,
      attempt: 0,
      features: { Gate: true },
    });
  });

  it("CORE-227 CORE-288 retries a failure with backoff, with one error line each, and counts the attempts", async () => {
    const { keys, contexts } = await run(async (_key, ctx) => {
      if (ctx.attempt < 3) throw new Error("boom");
    });
    await clock.advance(5 + 10 + 20);
    expect(keys).toHaveLength(4);
    expect(contexts.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 3]);
    expect(lines.filter(({ msg }) => msg === "Reconciler error")).toHaveLength(3);
    expect(lines.filter(({ msg }) => msg === "Reconciled")).toHaveLength(1);
    expect(counts).toEqual({ error: 3, success: 1 });
  });

  it("CORE-227 does not retry a terminal error, also as a cause", async () => {
    const { keys } = await run(async () => {
      throw new Error("outer", { cause: new TerminalError("hopeless") });
    });
    await clock.advance(1_000_000);
    expect(keys).toHaveLength(1);
    expect(counts).toEqual({ error: 1, terminal: 1 });
  });

  it("CORE-227 CORE-229 runs again after requeueAfter, with jitter unless exact, and not before 100 ms", async () => {
    const results = [
      { requeueAfter: 1000 },
      { requeueAfter: 1000, exact: true },
      { requeueAfter: 1, exact: true },
      undefined,
    ];
    const { keys } = await run(async () => results.shift());
    await clock.advance(1049);
    expect(keys).toHaveLength(1);
    await clock.advance(1);
    expect(keys).toHaveLength(2);
    await clock.advance(999);
    expect(keys).toHaveLength(2);
    await clock.advance(1);
    expect(keys).toHaveLength(3);
    await clock.advance(99);
    expect(keys).toHaveLength(3);
    await clock.advance(1);
    expect(keys).toHaveLength(4);
    expect(counts).toEqual({ requeue_after: 3, success: 1 });
  });

  it("CORE-228 logs conflicts at info until five in a row", async () => {
    const { keys } = await run(async () => {
      throw apiError(409, "the object has been modified", { reason: "Conflict" } as never);
    });
    await clock.advance(75);
    expect(keys).toHaveLength(5);
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("CORE-228 takes a NotFound of the key's own object as success", async () => {
    await run(async () => {
      throw Object.assign(apiError(404, "things a not found"), {
        details: { name: "a", kind: "things", causes: [] },
      });
    });
    expect(counts).toEqual({ success: 1 });
  });

  it("CORE-230 counts a programming error as a panic, retries it and lives on", async () => {
    const { keys } = await run(async () => {
      (undefined as unknown as { x(): void }).x();
    });
    await clock.advance(5);
    expect(keys).toHaveLength(2);
    expect(counts).toMatchObject({ panic: 2, error: 2 });
  });

  it("CORE-230 reports a panic as fatal when the process shall end with one", async () => {
    const fatal: unknown[] = [];
    await run(
      async () => {
        throw new TypeError("x");
      },
      { onFatal: (error) => fatal.push(error) },
    );
    expect(fatal).toHaveLength(1);
  });

  it("CORE-231 attributes an unhandled rejection to the reconcile that started it", async () => {
    const fatal: unknown[] = [];
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    const remove = handleRejections((error) => fatal.push(error));
    try {
      await run(async () => {
        void Promise.reject(new Error("forgotten"));
      });
      await clock.flush();
      expect(counts.panic).toBe(1);
      expect(
        lines.some(({ msg, fields }) => msg === "unhandled rejection in a reconcile" && fields.name === "a"),
      ).toBe(true);
      void Promise.reject(new Error("outside"));
      await clock.flush();
      expect(fatal).toHaveLength(1);
    } finally {
      remove();
      for (const listener of others) process.on("unhandledRejection", listener);
    }
  });

  it("CORE-232 aborts a run after its time, keeps its key locked, and names it while it does not end", async () => {
    let end = (): void => {};
    const { keys, contexts, controller } = await run(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await clock.advance(300_000);
    expect(contexts[0]?.signal.reason).toMatchObject({ message: "reconciliation timeout" });
    expect(counts.timeout).toBe(1);
    controller.enqueue(key);
    await clock.advance(300_000 + 60_000);
    expect(keys).toHaveLength(1);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(2);
    end();
    await clock.flush();
    expect(keys).toHaveLength(2);
    end();
  });

  it("CORE-233 runs as many keys at a time as the controller says, and no more", async () => {
    let active = 0;
    let most = 0;
    const record = recorder(async () => {
      active += 1;
      most = Math.max(most, active);
      await new Promise<void>((resolve) => clock.setTimer(10, resolve));
      active -= 1;
    });
    const controller = builder()
      .for(things)
      .withOptions({ maxConcurrentReconciles: 3 })
      .complete(record.reconcile);
    await start(controller);
    for (let i = 0; i < 10; i += 1) controller.enqueue({ namespace: "t", name: `n${i}` });
    await clock.advance(100);
    expect(record.keys).toHaveLength(10);
    expect(most).toBe(3);
  });
});

describe("stopping", () => {
  const key = { namespace: "t", name: "a" };

  it("CORE-262 lets running reconciles end, with their signal untouched, and takes no new work", async () => {
    let end = (): void => {};
    const { keys, contexts, reconcile } = recorder(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const controller = builder().for(things).complete(reconcile);
    await start(controller);
    controller.enqueue(key);
    await clock.flush();
    const stopped = controller.stop(20_000);
    controller.enqueue({ namespace: "t", name: "b" });
    await clock.advance(10_000);
    expect(contexts[0]?.signal.aborted).toBe(false);
    end();
    await clock.flush();
    expect(await stopped).toEqual({ stuck: [] });
    expect(keys).toEqual(["t/a"]);
    expect(controller.state).toBe("Stopped");
  });

  it("CORE-262 aborts what still runs after the drain, and names what does not end", async () => {
    const { contexts, reconcile } = recorder(() => new Promise(() => {}));
    const controller = builder().for(things).complete(reconcile);
    await start(controller);
    controller.enqueue(key);
    await clock.flush();
    const stopped = controller.stop(20_000);
    await clock.advance(21_000);
    expect(contexts[0]?.signal.aborted).toBe(true);
    expect(await stopped).toEqual({ stuck: ["t/a"] });
  });

  it("CORE-256 aborts all running reconciles at once when its signal does", async () => {
    const { contexts, reconcile } = recorder(() => new Promise(() => {}));
    const controller = builder().for(things).complete(reconcile);
    await start(controller);
    controller.enqueue(key);
    await clock.flush();
    stopAll.abort(new Error("leader election lost"));
    expect(contexts[0]?.signal.aborted).toBe(true);
  });
});

it("explains the state of a key", async () => {
  const controller = builder()
    .for(things)
    .complete(async () => {
      throw new Error("boom");
    });
  await start(controller);
  controller.enqueue({ namespace: "t", name: "a" });
  await clock.flush();
  expect(controller.explain({ namespace: "t", name: "a" })).toMatchObject({
    controller: "echo",
    state: "Running",
    queue: { state: "waiting", attempt: 1 },
    lastOutcome: { result: "error", error: "boom" },
  });
});
