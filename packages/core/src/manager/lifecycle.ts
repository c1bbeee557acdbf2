/** A manager's way from start to end. */
import type { EventSink } from "../observe/events.ts";
import type { LeaderObserver } from "../observe/leader-metrics.ts";
import type { LoopMonitor } from "../observe/loop-monitor.ts";
import { EXIT, exitCodeOf, ManagerStoppedError } from "./errors.ts";
import type { LeaderElector } from "./leader-election.ts";
import type { ManagerEnd, ManagerHandle, ManagerOptions, ManagerServer } from "./manager-types.ts";
import { type ShutdownSteps, shutDown } from "./shutdown.ts";
import type { WorkGroup } from "./work-group.ts";

/** How long the loss of leadership may hold up the end (the process exits within 1 s, CORE-256). */
const LOST_CLEANUP_MS = 500;

/** What the lifecycle moves. */
export interface LifecycleParts {
  /** Absent without leader election. */
  readonly elector: LeaderElector | undefined;
  readonly leaderWork: WorkGroup;
  readonly everyReplicaWork: WorkGroup;
  readonly events: EventSink;
  readonly loop: LoopMonitor;
  readonly observer: LeaderObserver;
}

export interface Lifecycle extends Pick<ManagerHandle, "start" | "stop" | "ended" | "leading"> {
  /** Stops the manager because of an error. */
  fail(error: unknown): Promise<ManagerEnd>;
  isStopping(): boolean;
}

/** The lifecycle of one manager. */
export function createLifecycle(options: ManagerOptions, parts: LifecycleParts): Lifecycle {
  const { elector, leaderWork, everyReplicaWork } = parts;
  const lifetime = new AbortController();
  const ended = deferred<ManagerEnd>();
  const leading = deferred<void>();
  const started: ManagerServer[] = [];
  let ending: Promise<ManagerEnd> | undefined;

  const beginToLead = (): void => {
    if (lifetime.signal.aborted) return;
    leaderWork.start();
    leading.resolve();
  };

  const elect = async (): Promise<void> => {
    if (elector === undefined) {
      parts.observer.onLeading(true);
      beginToLead();
      return;
    }
    elector.lost.addEventListener("abort", () => void lose(elector.lost.reason), { once: true });
    await elector.acquire(lifetime.signal).then(beginToLead, (error: unknown) => {
      if (!lifetime.signal.aborted) void finish(error);
    });
  };

  /** Leadership is gone: everything ends at once, and nothing is given back. */
  const lose = (reason: unknown): Promise<ManagerEnd> => {
    leaderWork.abort(reason);
    const end = async (): Promise<ManagerEnd> => {
      lifetime.abort(reason);
      everyReplicaWork.abort(reason);
      parts.loop.stop();
      const cleanup = Promise.allSettled([options.cache.stop(), ...started.map((server) => server.stop())]);
      await Promise.race([cleanup, wait(options, LOST_CLEANUP_MS)]);
      return { code: EXIT.failure, error: reason, stuck: [] };
    };
    ending ??= end();
    void ending.then(ended.resolve);
    return ending;
  };

  const finish = (error: unknown): Promise<ManagerEnd> => {
    const end = async (): Promise<ManagerEnd> => {
      lifetime.abort(new ManagerStoppedError("leader election"));
      const { clock, log, gracefulShutdownTimeoutMs: timeoutMs, shutdownDelayMs: webhookDelayMs } = options;
      const steps = shutdownSteps(options, parts, started);
      const { inTime, stuck } = await shutDown(steps, { clock, log, timeoutMs, webhookDelayMs });
      if (elector?.lost.aborted) return { code: EXIT.failure, error: elector.lost.reason, stuck };
      const code = error === undefined && !inTime ? EXIT.failure : exitCodeOf(error);
      return { code, stuck, ...(error !== undefined && { error }) };
    };
    ending ??= end();
    void ending.then(ended.resolve);
    return ending;
  };

  return {
    async start() {
      try {
        await startAll(options, parts, started, lifetime.signal);
      } catch (error) {
        await finish(error);
        throw error;
      }
      void elect();
    },
    stop: () => finish(undefined),
    fail: finish,
    isStopping: () => lifetime.signal.aborted,
    ended: ended.promise,
    leading: leading.promise,
  };
}

/** All that comes before the election; servers that listen are added to `started`. */
async function startAll(
  options: ManagerOptions,
  { elector, leaderWork, everyReplicaWork }: LifecycleParts,
  started: ManagerServer[],
  signal: AbortSignal,
): Promise<void> {
  await options.preflight?.();
  for (const server of [...options.servers, ...(options.webhooks ? [options.webhooks] : [])]) {
    signal.throwIfAborted();
    await server.start();
    // The stop that came meanwhile knows nothing of this one.
    if (signal.aborted) await server.stop();
    else started.push(server);
  }
  signal.throwIfAborted();
  everyReplicaWork.start();
  // Beside the election: a kind that cannot be listed must keep nobody from leading.
  if (elector !== undefined && options.warmup) for (const one of leaderWork.controllers()) one.warmUp();
}

function shutdownSteps(
  options: ManagerOptions,
  parts: LifecycleParts,
  started: readonly ManagerServer[],
): ShutdownSteps {
  const { webhooks, election } = options;
  const servers = started.filter((server) => server !== webhooks);
  return {
    // Readiness has turned already: it follows the lifetime.
    begin: () => options.log.info("Stopping"),
    async stopWork(drainMs) {
      const [leader, others] = await Promise.all([
        parts.leaderWork.stop(drainMs),
        parts.everyReplicaWork.stop(drainMs),
      ]);
      return [...leader, ...others];
    },
    flushEvents: (timeoutMs) => parts.events.stop(timeoutMs),
    releaseLease: async (workEnded) => {
      await parts.elector?.release({ keep: !workEnded || election?.releaseOnCancel === false });
      parts.observer.onLeading(false);
    },
    ...(webhooks !== undefined && started.includes(webhooks) && { stopWebhooks: () => webhooks.stop() }),
    stopCaches: () => options.cache.stop(),
    async stopServers() {
      parts.loop.stop();
      const results = await Promise.allSettled(servers.map((server) => server.stop()));
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

const wait = ({ clock }: ManagerOptions, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(ms, resolve, { unref: true }));

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve = (_value: T): void => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
