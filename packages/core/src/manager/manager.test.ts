import { describe, expect, it } from "vitest";
import { inAdmission } from "../admission-context.ts";
import type { Cache } from "../cache/types.ts";
import type { Client, ClientHooks, WriteInfo } from "../client/types.ts";
import type { Controller, ControllerState } from "../controller/types.ts";
import type { ControllerModule } from "../module/module.ts";
import { allow } from "../module/rights.ts";
import { defineKind, type KubeObject, keyToString, type ObjectKey } from "../object.ts";
import { parseLogLevels } from "../observe/levels.ts";
import { createLogging } from "../observe/logger.ts";
import { createMetrics } from "../observe/metrics.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { ManagerStoppedError, PreflightError } from "./errors.ts";
import { type LeaseServer, leaseServer, refused } from "./lease.testkit.ts";
import { createManager } from "./manager.ts";
import type { ManagerEnd, ManagerHandle, ManagerOptions } from "./manager-types.ts";
import type { Manager, Runnable } from "./types.ts";

const pods = defineKind({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
const write: WriteInfo = { verb: "update", kind: pods, key: { namespace: "n", name: "x" }, dryRun: false };

/** Client whose writes run the hooks and nothing else; Leases go to the server. */
function fakeClient(
  server: LeaseServer,
  trace: (what: string) => void,
  hooks: readonly ClientHooks[] = [],
): Client {
  const client = {
    ...server.client,
    forController: (_name: string, own?: ClientHooks) =>
      fakeClient(server, trace, own === undefined ? hooks : [...hooks, own]),
    async patch(): Promise<KubeObject> {
      for (const hook of hooks) hook.beforeWrite?.(write);
      trace("write");
      const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "x", namespace: "n" } };
      for (const hook of hooks) hook.afterWrite?.(write, object);
      return object;
    },
  };
  return client as unknown as Client;
}

/** Client whose patches are noted by the controller that sends them; they run its hooks. */
function tracingClient(sent: (controller: string, dryRun: boolean) => void): Client {
  const under = (controller: string, hooks: readonly ClientHooks[]): Client =>
    ({
      forController: (name: string, own?: ClientHooks) => under(name, own ? [...hooks, own] : hooks),
      get: async () => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "x", namespace: "n" } }),
      async patch(_kind: unknown, _key: unknown, _patch: unknown, { dryRun = false } = {}) {
        for (const hook of hooks) hook.beforeWrite?.({ ...write, verb: "patch", dryRun });
        sent(controller, dryRun);
        return { apiVersion: "v1", kind: "Pod", metadata: { name: "x", namespace: "n" } };
      },
    }) as unknown as Client;
  return under("", []);
}

function moduleOf(name: string): ControllerModule {
  return { name, aliases: [], kinds: [], crds: [], rights: [], flags: [], build: () => {} };
}

interface Harness {
  clock: FakeClock;
  server: LeaseServer;
  trace: string[];
  manager: ManagerHandle;
  overlays: string[];
  end: () => ManagerEnd | undefined;
  lines: () => Record<string, unknown>[];
}

const ELECTION = {
  lease: { namespace: "ops", name: "quartet-manager" },
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  releaseOnCancel: true,
};

function harness(
  changes: Partial<ManagerOptions> = {},
  shared: { clock?: FakeClock; server?: LeaseServer; identity?: string } = {},
): Harness {
  const clock = shared.clock ?? fakeClock();
  const server = shared.server ?? leaseServer(() => clock.monotonic());
  const trace: string[] = [];
  const overlays: string[] = [];
  const lines: string[] = [];
  const { log } = createLogging({
    levels: parseLogLevels("info"),
    destination: { write: (line) => lines.push(line) },
    clock,
  });
  const note = (what: string): void => void trace.push(what);
  const serverOf = (name: string) => ({
    name,
    check: () => undefined,
    start: async () => note(`start ${name}`),
    stop: async () => note(`stop ${name}`),
  });
  const cache = {
    informers: () => [],
    overlay: (_kind: unknown, key: ObjectKey, object: KubeObject | "deleted") =>
      void overlays.push(`${keyToString(key)} ${object === "deleted" ? object : "object"}`),
    stop: async () => note("stop caches"),
  };
  const manager = createManager({
    client: fakeClient(server, note),
    cache: cache as unknown as Cache,
    clock,
    log,
    metrics: createMetrics({ processMetrics: false }),
    controllerOptions: (_, declared) => ({
      maxConcurrentReconciles: 1,
      reconcileTimeoutMs: 0,
      needLeaderElection: true,
      ...declared,
    }),
    recoverPanic: true,
    features: {},
    namespaces: [],
    identity: shared.identity ?? "me",
    instance: "pod-0",
    election: ELECTION,
    preflight: async () => note("preflight"),
    servers: [serverOf("health"), serverOf("metrics")],
    webhooks: serverOf("webhooks"),
    warmup: true,
    cacheSyncTimeoutMs: 120_000,
    gracefulShutdownTimeoutMs: 30_000,
    shutdownDelayMs: 5_000,
    ...changes,
  });
  let end: ManagerEnd | undefined;
  void manager.ended.then((result) => (end = result));
  return {
    clock,
    server,
    trace,
    manager,
    overlays,
    end: () => end,
    lines: () => lines.map((line) => JSON.parse(line)),
  };
}

interface FakeController extends Controller {
  signal: AbortSignal | undefined;
}

/** Controller that notes what is asked of it; `stop` says how it ends. */
function fakeController(
  name: string,
  trace: string[],
  more: {
    leader?: boolean;
    state?: ControllerState;
    stop?: () => Promise<{ stuck: readonly string[] }>;
    run?: () => Promise<void>;
  } = {},
): FakeController {
  const controller: FakeController = {
    name,
    state: more.state ?? "Running",
    declared: {},
    options: { maxConcurrentReconciles: 1, reconcileTimeoutMs: 0, needLeaderElection: more.leader ?? true },
    sources: [],
    problem: undefined,
    signal: undefined,
    warmUp: () => void trace.push(`warm ${name}`),
    async run(signal) {
      trace.push(`run ${name}`);
      controller.signal = signal;
      await more.run?.();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    async stop(drainMs) {
      trace.push(`drain ${name} ${drainMs}`);
      return more.stop ? more.stop() : { stuck: [] };
    },
    enqueue: () => {},
    setMaxConcurrentReconciles: () => {},
    watch: () => () => {},
    explain: () => ({}),
  };
  return controller;
}

function runnable(name: string, trace: string[], needLeaderElection?: boolean): Runnable {
  return {
    name,
    ...(needLeaderElection !== undefined && { needLeaderElection }),
    async run(signal) {
      trace.push(`run ${name}`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      trace.push(`end ${name}`);
    },
  };
}

describe("start", () => {
  it("CORE-250 goes preflight, servers, webhooks, work of every replica, warm-up, election, leader work", async () => {
    const { clock, trace, manager, server } = harness();
    manager.add(fakeController("tars", trace));
    manager.add(runnable("everywhere", trace, false));
    manager.add(runnable("pruner", trace));
    await manager.start();
    expect(server.calls).toHaveLength(1);
    await clock.flush();
    expect(trace).toEqual([
      "preflight",
      "start health",
      "start metrics",
      "start webhooks",
      "run everywhere",
      "warm tars",
      "run tars",
      "run pruner",
    ]);
  });

  it("CORE-250 starts work that is added while running at once, and refuses it while stopping", async () => {
    const { clock, trace, manager } = harness();
    await manager.start();
    await clock.flush();
    manager.add(fakeController("late", trace));
    manager.add(runnable("late-too", trace, false));
    expect(trace.slice(-2)).toEqual(["run late", "run late-too"]);
    void manager.stop();
    expect(() => manager.add(fakeController("too-late", trace))).toThrow(ManagerStoppedError);
    expect(() => manager.add(fakeController("too-late", trace))).toThrow("cannot add controller too-late");
  });

  it("CORE-261 leads at once without election, and asks for no Lease", async () => {
    const { clock, trace, manager, server } = harness({ election: undefined as never });
    manager.add(fakeController("tars", trace));
    await manager.start();
    await manager.leading;
    expect(trace.at(-1)).toBe("run tars");
    expect(manager.isLeader()).toBe(true);
    await clock.advance(60_000);
    expect(server.calls).toEqual([]);
    expect(await manager.metrics.render()).toContain("quartet_leader 1");
    await expect(manager.client.patch(pods, write.key, { type: "merge", body: {} })).resolves.toBeDefined();
  });

  it("leaves caches cold on standby with --warmup=false", async () => {
    const { clock, trace, manager } = harness({ warmup: false });
    manager.add(fakeController("tars", trace));
    await manager.start();
    await clock.flush();
    expect(trace).not.toContain("warm tars");
    expect(trace).toContain("run tars");
  });

  it("CORE-398 ends with code 3 when rights are missing, before anything listens", async () => {
    const { trace, manager, end } = harness({
      preflight: async () => {
        throw new PreflightError("- verbs: [list]");
      },
    });
    await expect(manager.start()).rejects.toThrow("missing rights");
    expect(end()?.code).toBe(3);
    expect(trace.filter((what) => what.startsWith("start"))).toEqual([]);
  });

  it("CORE-250 starts nothing more when it is stopped while a server starts, and stops that one as well", async () => {
    const listening = Promise.withResolvers<void>();
    const slow: ManagerOptions["webhooks"] = {
      name: "webhooks",
      check: () => undefined,
      start: () => listening.promise,
      stop: async () => void trace.push("stop slow"),
    };
    const { trace, manager, clock } = harness({ webhooks: slow });
    manager.add(fakeController("everywhere", trace, { leader: false }));
    const started = manager.start();
    const refused = expect(started).rejects.toThrow();
    await clock.flush();
    const ended = manager.fail(new Error("fatal"));
    await clock.advance(10_000);
    expect(await ended).toMatchObject({ code: 1, error: new Error("fatal") });
    listening.resolve();
    await refused;
    expect(trace).toContain("stop slow");
    expect(trace).not.toContain("run everywhere");
  });

  it("CORE-265 stops everything with the error of a server that cannot start", async () => {
    const { trace, manager, end } = harness({
      webhooks: {
        name: "webhooks",
        check: () => undefined,
        stop: async () => {},
        start: async () => {
          throw new Error("port taken");
        },
      },
    });
    await expect(manager.start()).rejects.toThrow("port taken");
    expect(end()).toMatchObject({ code: 1, error: new Error("port taken") });
    expect(trace.slice(-2)).toEqual(["stop health", "stop metrics"]);
  });
});

describe("standby", () => {
  it("CORE-260 serves and keeps caches warm, but runs no leader work and sends no leader write", async () => {
    const { clock, trace, manager, server } = harness();
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    manager.add(fakeController("tars", trace));
    manager.add(fakeController("everywhere", trace, { leader: false }));
    await manager.start();
    await clock.advance(10_000);
    expect(trace).toEqual([
      "preflight",
      "start health",
      "start metrics",
      "start webhooks",
      "run everywhere",
      "warm tars",
    ]);
    expect(manager.isLeader()).toBe(false);
    expect(await manager.metrics.render()).toContain("quartet_leader 0");
    expect(await manager.readyz.get("caches")!()).toBeUndefined();
    const events = manager.events("tars");
    events.record(
      { apiVersion: "v1", kind: "Pod", metadata: { name: "x" } },
      { type: "Normal", reason: "R", note: "" },
    );
    await expect(manager.client.patch(pods, write.key, { type: "merge", body: {} })).rejects.toThrow(
      "leader election lost",
    );
    expect(trace).not.toContain("write");
  });

  it("CORE-266 starts no leader work when it is stopped", async () => {
    const { clock, trace, manager, server, end } = harness();
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    manager.add(fakeController("tars", trace));
    await manager.start();
    void manager.stop();
    server.put({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(60_000);
    expect(trace).not.toContain("run tars");
    expect(server.writes).toEqual([]);
    expect(end()).toEqual({ code: 0, stuck: [] });
    expect(clock.pending).toBe(0);
  });
});

describe("loss of leadership", () => {
  it("CORE-256 aborts leader work at once, keeps the Lease and ends with code 1 within 1 s", async () => {
    const { clock, trace, manager, server, end } = harness();
    const tars = fakeController("tars", trace);
    manager.add(tars);
    await manager.start();
    await clock.advance(2_000);
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    await clock.advance(2_000);
    expect(tars.signal?.aborted).toBe(true);
    await clock.advance(1_000);
    expect(end()?.code).toBe(1);
    expect(String(end()?.error)).toContain("leader election lost");
    expect(trace).not.toContain("drain tars 20000");
    expect(server.lease()!.spec!.holderIdentity).toBe("other");
    expect(await manager.readyz.get("shutdown")!()).toBeDefined();
  });

  it("CORE-257 refuses writes of leader work after 10 s without renewal, and counts them", async () => {
    const { clock, manager, server, trace } = harness();
    await manager.start();
    await clock.flush();
    const patch = (): Promise<unknown> => manager.client.patch(pods, write.key, { type: "merge", body: {} });
    await patch();
    server.failure = refused();
    await clock.advance(10_000);
    await expect(patch()).rejects.toThrow("leader election lost: update of pods not sent");
    expect(trace.filter((what) => what === "write")).toHaveLength(1);
    expect(await manager.metrics.render()).toContain("quartet_fenced_writes_total 1");
  });

  it("CORE-256 ends with code 1 when leadership is lost during a clean stop", async () => {
    const { clock, trace, manager, server, end } = harness();
    const tars = fakeController("tars", trace, { stop: () => new Promise(() => {}) });
    manager.add(tars);
    await manager.start();
    await clock.flush();
    void manager.stop();
    await clock.advance(1_000);
    expect(tars.signal?.aborted).toBe(false);
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    await clock.advance(3_000);
    expect(tars.signal?.aborted).toBe(true);
    await clock.advance(30_000);
    expect(end()?.code).toBe(1);
  });

  it("lets work of every replica write without the Lease", async () => {
    const { clock, manager, server, trace } = harness();
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    const client: { current?: Client } = {};
    const everywhere = manager
      .controller("everywhere")
      .watchesRaw({
        name: "once",
        start: (enqueue) => enqueue({ namespace: "n", name: "x" }),
      })
      .withOptions({ needLeaderElection: false })
      .complete(async (_key, ctx) => {
        client.current = ctx.client;
        await ctx.client.patch(pods, write.key, { type: "merge", body: {} });
      });
    manager.add(everywhere);
    await manager.start();
    await clock.flush();
    expect(trace).toContain("write");
  });
});

describe("identity", () => {
  const nacos: ControllerModule = moduleOf("ds-patches");
  const tars: ControllerModule = moduleOf("tars");

  /** A controller that patches once, through what its manager gives it. */
  const patching = (manager: Manager, name: string, needLeaderElection = true): Controller =>
    manager
      .controller(name)
      .watchesRaw({ name: "once", start: (enqueue) => enqueue({ namespace: "n", name: "x" }) })
      .withOptions({ needLeaderElection })
      .complete(
        async (_key, ctx) => void (await ctx.client.patch(pods, write.key, { type: "merge", body: {} })),
      );

  it("CORE-241 a module that runs dry writes nothing, whatever its controllers are called, and no other is held", async () => {
    const sent: string[] = [];
    const { clock, manager } = harness({
      election: undefined as never,
      runsDry: (module) => module === nacos,
      client: tracingClient((controller, dryRun) => sent.push(`${controller} ${dryRun ? "dry" : "real"}`)),
    });
    manager.add(patching(manager.forModule(nacos), "daemonset"));
    manager.add(patching(manager.forModule(tars), "ds-patches-like"));
    await manager.start();
    await clock.flush();
    expect(sent.sort()).toEqual(["daemonset dry", "ds-patches-like real"]);
  });

  it("CORE-233 gives each controller the options of the module that built it", () => {
    const { manager } = harness({
      controllerOptions: (module, declared) => ({
        maxConcurrentReconciles: module === tars ? 7 : 2,
        reconcileTimeoutMs: 0,
        needLeaderElection: true,
        ...declared,
      }),
    });
    const first = patching(manager.forModule(nacos), "tars-like");
    const second = patching(manager.forModule(tars), "pruner");
    expect([first, second].map(({ options }) => options.maxConcurrentReconciles)).toEqual([2, 7]);
    expect([first, second].map((controller) => manager.moduleOf(controller))).toEqual([nacos, tars]);
  });

  it("CORE-257 work of every replica takes the fence from no controller, whatever the two are called", async () => {
    const { clock, manager, server, trace } = harness({ warmup: false });
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    manager.add(runnable("tars", trace, false));
    await manager.start();
    await clock.flush();
    const rights = [allow(pods, ["update"], { elsewhere: "any" })];
    const { client } = manager.forModule({ ...tars, rights });
    await expect(client.patch(pods, write.key, { type: "merge", body: {} })).rejects.toThrow(
      "leader election lost",
    );
    expect(trace).not.toContain("write");
  });

  it("CORE-220 refuses work of a name that there is, and a second module of one name", () => {
    const { manager, trace } = harness();
    manager.add(runnable("tars", trace, false));
    expect(() => manager.add(fakeController("tars", trace))).toThrow(
      "cannot add controller tars: there is a runnable tars already",
    );
    manager.forModule(tars);
    expect(() => manager.forModule(moduleOf("tars"))).toThrow('there are two modules "tars"');
  });

  it("CORE-341 a write within a webhook's handler is not sent, a dry run is", async () => {
    const sent: string[] = [];
    const { clock, manager } = harness({
      election: undefined as never,
      client: tracingClient((_controller, dryRun) => sent.push(dryRun ? "dry" : "real")),
    });
    await manager.start();
    await clock.flush();
    const patch = (dryRun: boolean) =>
      manager.client.patch(pods, write.key, { type: "merge", body: {} }, { dryRun });
    const call = (mayWrite: boolean) => ({ mayWrite, namespace: "t" });
    await expect(inAdmission(() => patch(false), call(false))).rejects.toThrow(
      "patch of pods not sent: a webhook's handler must not write",
    );
    await inAdmission(() => patch(true), call(false));
    await patch(false);
    expect(sent).toEqual(["dry", "real"]);
    await inAdmission(() => patch(false), call(true));
    expect(sent).toEqual(["dry", "real", "real"]);
  });
});

it("CORE-341 a dry run within a webhook's handler is sent by every replica, any other by the leader alone", async () => {
  const sent: string[] = [];
  const server = leaseServer(() => 0);
  const leases = fakeClient(server, () => {});
  const writes = tracingClient((_controller, dryRun) => sent.push(dryRun ? "dry" : "real"));
  const forController = (name: string, hooks?: ClientHooks) =>
    name === "leader-election" ? leases : writes.forController(name, hooks);
  const { clock, manager } = harness({ client: { ...writes, forController } }, { server });
  server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
  await manager.start();
  await clock.flush();
  const patch = () => manager.client.patch(pods, write.key, { type: "merge", body: {} }, { dryRun: true });
  expect(manager.isLeader()).toBe(false);
  await inAdmission(patch, { mayWrite: false, namespace: "n" });
  await expect(patch()).rejects.toThrow("leader election lost");
  expect(sent).toEqual(["dry"]);
});

describe("stop", () => {
  it("CORE-262 drains, gives the Lease back, then stops webhooks after 5 s, the caches that they read, and servers", async () => {
    const { clock, trace, manager, server, end } = harness();
    const tars = fakeController("tars", trace);
    manager.add(tars);
    await manager.start();
    await clock.flush();
    trace.length = 0;
    void manager.stop();
    expect(await manager.readyz.get("shutdown")!()).toBe("the manager is stopping");
    await clock.flush();
    expect(trace).toEqual(["drain tars 20000"]);
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(5_000);
    expect(trace.slice(1)).toEqual(["stop webhooks", "stop caches", "stop health", "stop metrics"]);
    expect(end()).toEqual({ code: 0, stuck: [] });
    expect(clock.pending).toBe(0);
  });

  it("CORE-259 keeps renewing while reconciles drain, and gives the Lease back only after them", async () => {
    let finish = (_result: { stuck: readonly string[] }): void => {};
    const { clock, trace, manager, server } = harness();
    manager.add(fakeController("tars", trace, { stop: () => new Promise((resolve) => (finish = resolve)) }));
    await manager.start();
    await clock.flush();
    void manager.stop();
    await clock.advance(12_000);
    expect(server.lease()!.spec!.holderIdentity).toBe("me");
    expect(server.writes.at(-1)!.at).toBe(12_000);
    finish({ stuck: [] });
    await clock.flush();
    expect(server.lease()!.spec!.holderIdentity).toBe("");
  });

  it("CORE-262 ends with code 1, names stuck keys and keeps the Lease", async () => {
    const { clock, trace, manager, server, end } = harness();
    manager.add(fakeController("tars", trace, { stop: async () => ({ stuck: ["n/a"] }) }));
    await manager.start();
    await clock.flush();
    void manager.stop();
    await clock.advance(30_000);
    expect(end()).toEqual({ code: 1, stuck: ["tars: n/a"] });
    expect(server.lease()!.spec!.holderIdentity).toBe("me");
  });

  it("CORE-259 hands over to a standby within 4.4 s, with one more transition", async () => {
    const clock = fakeClock();
    const server = leaseServer(() => clock.monotonic());
    const first = harness({}, { clock, server, identity: "first" });
    const second = harness({}, { clock, server, identity: "second" });
    second.manager.add(fakeController("tars", second.trace));
    await first.manager.start();
    await clock.flush();
    await second.manager.start();
    await clock.advance(7_000);
    void first.manager.stop();
    await clock.advance(4_400);
    expect(second.manager.isLeader()).toBe(true);
    expect(second.trace).toContain("run tars");
    expect(server.lease()!.spec!.leaseTransitions).toBe(1);
    expect(first.manager.isLeader()).toBe(false);
  });

  it("CORE-265 ends with the error of work that fails, naming it", async () => {
    const { clock, trace, manager, server, end } = harness();
    manager.add(
      fakeController("tars", trace, {
        run: async () => {
          throw new Error("index function threw");
        },
      }),
    );
    await manager.start();
    await clock.advance(30_000);
    expect(end()?.code).toBe(1);
    expect(String(end()?.error)).toBe("Error: controller tars failed: index function threw");
    expect(server.lease()!.spec!.holderIdentity).toBe("");
  });

  it("gives the same end to every caller", async () => {
    const { clock, manager } = harness();
    await manager.start();
    const both = Promise.all([manager.stop(), manager.stop(), manager.ended]);
    await clock.advance(30_000);
    expect(await both).toEqual(Array(3).fill({ code: 0, stuck: [] }));
  });
});

describe("checks", () => {
  it("CORE-282 CORE-260 waits for the caches of the controllers that are to work here, and tells of each that fails", async () => {
    const { clock, manager, server, trace } = harness({ warmup: false });
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
    const check = manager.readyz.get("caches")!;
    manager.add(fakeController("tars", trace, { state: "Starting" }));
    manager.add(fakeController("broken", trace, { state: "Failed" }));
    await manager.start();
    await clock.flush();
    expect(check()).toBeUndefined();
    expect(await manager.readyz.get("controller-broken")!()).toBe("failed");
    server.put({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(5_000);
    expect(manager.isLeader()).toBe(true);
    expect(check()).toBe("controller tars has not begun");
  });

  it("CORE-282 has the checks caches, webhook and shutdown; CORE-281 ping, event-loop and leader", () => {
    const { manager } = harness();
    expect([...manager.readyz.keys()]).toEqual(["caches", "webhook", "shutdown"]);
    expect([...manager.healthz.keys()]).toEqual(["ping", "event-loop", "leader"]);
  });

  it("lays own writes over the cache, dry runs left out", async () => {
    const { clock, manager, overlays } = harness();
    await manager.start();
    await clock.flush();
    await manager.client.patch(pods, write.key, { type: "merge", body: {} });
    expect(overlays).toEqual(["n/x object"]);
  });
});
