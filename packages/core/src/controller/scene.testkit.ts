/** Stage for the tests of controllers: a scripted server, a real cache over it, and a clock moved by hand. */
import { createCache } from "../cache/cache.ts";
import { type FakeServer, fakeServer } from "../cache/fake-server.testkit.ts";
import { type LogLine, memoryLog } from "../cache/fixtures.testkit.ts";
import type { Cache } from "../cache/types.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import type { EventInput } from "../observe/types.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { createControllerBuilder } from "./builder.ts";
import type { ControllerDeps } from "./controller.ts";
import type { Controller, ControllerBuilder, Reconcile, ReconcileContext, Result } from "./types.ts";

export interface Scene {
  readonly clock: FakeClock;
  readonly server: FakeServer;
  readonly cache: Cache;
  readonly lines: LogLine[];
  readonly events: EventInput[];
  /** What observers were told of, by name. */
  readonly counts: Record<string, number>;
  readonly deps: ControllerDeps;
  /** Signal that all controllers run under. */
  readonly lost: AbortController;
  builder(name?: string, more?: Partial<ControllerDeps>): ControllerBuilder;
  /** Starts a controller and waits until it has worked off what there is. */
  start(controller: Controller): Promise<{ done: Promise<void> }>;
  /** Lines of a level, or with a message. */
  logged(what: string): LogLine[];
  close(): Promise<void>;
}

export function openScene(more: Partial<ControllerDeps> = {}): Scene {
  const clock = fakeClock();
  const server = fakeServer();
  const { log, lines } = memoryLog();
  const cache = createCache({ client: server.client, clock, log: memoryLog().log, guard: true });
  const events: EventInput[] = [];
  const counts: Record<string, number> = {};
  const names = new Set<string>();
  const running: Controller[] = [];
  const lost = new AbortController();
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const deps: ControllerDeps = {
    cache,
    outlets: () => ({
      client: server.client,
      events: { record: (_regarding, event) => void events.push(event) },
    }),
    clock,
    log,
    features: { Gate: true },
    optionsOf: (declared) => ({
      maxConcurrentReconciles: 4,
      reconcileTimeoutMs: 300_000,
      needLeaderElection: true,
      ...declared,
    }),
    cacheSyncTimeoutMs: 120_000,
    observer: {
      onReconcile: (_name, result) => count(result),
      onTerminalError: () => count("terminal"),
      onPanic: () => count("panic"),
      onTimeout: () => count("timeout"),
      onEventLost: () => count("lost"),
    },
    random: () => 0.5,
    ...more,
  };
  return {
    clock,
    server,
    cache,
    lines,
    events,
    counts,
    deps,
    lost,
    builder: (name = "echo", special = {}) => createControllerBuilder(name, { ...deps, ...special }, names),
    async start(controller) {
      running.push(controller);
      const done = controller.run(lost.signal);
      done.catch(() => {});
      await clock.flush();
      await clock.flush();
      return { done };
    },
    logged: (what) => lines.filter(({ level, msg }) => level === what || msg === what),
    async close() {
      const stopped = running.splice(0).map((controller) => controller.stop(0));
      await clock.advance(2000);
      await Promise.all(stopped);
      lost.abort();
      await deps.cache.stop();
    },
  };
}

export interface Recorder {
  /** Keys of the runs so far. */
  readonly keys: string[];
  readonly contexts: ReconcileContext[];
  readonly reconcile: Reconcile;
}

/** A reconcile that notes its keys and then does as told. */
export function recorder(
  act: (key: ObjectKey, ctx: ReconcileContext) => Promise<Result | undefined> = async () => undefined,
): Recorder {
  const keys: string[] = [];
  const contexts: ReconcileContext[] = [];
  return {
    keys,
    contexts,
    reconcile(key, ctx) {
      keys.push(keyToString(key));
      contexts.push(ctx);
      return act(key, ctx);
    },
  };
}

/** A reconcile that runs until it is told to end. */
export function endless(): Recorder & { end(): void } {
  let pending: (() => void)[] = [];
  const record = recorder(() => new Promise((resolve) => pending.push(() => resolve(undefined))));
  return {
    ...record,
    end() {
      for (const end of pending.splice(0)) end();
      pending = [];
    },
  };
}

export const KEY: ObjectKey = { namespace: "t", name: "a" };

/** Starts a controller, queues {@link KEY} by hand and waits for its first run. */
export async function runKey(
  scene: Scene,
  record: Recorder,
  build: (builder: ControllerBuilder) => ControllerBuilder,
  more: Partial<ControllerDeps> = {},
): Promise<Controller> {
  const controller = build(scene.builder("echo", more)).complete(record.reconcile);
  await scene.start(controller);
  controller.enqueue(KEY);
  await scene.clock.flush();
  return controller;
}
