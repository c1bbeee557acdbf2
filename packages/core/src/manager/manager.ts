/** The manager: starts everything in order, runs leader work while it leads, and stops everything in order. */
import type { Client, ClientHooks } from "../client/types.ts";
import { createControllerBuilder } from "../controller/builder.ts";
import type { ControllerDeps } from "../controller/controller.ts";
import { type RunContext, runContext } from "../controller/rejections.ts";
import type { Controller } from "../controller/types.ts";
import { createEventSink, type EventSink } from "../observe/events.ts";
import type { HealthCheck } from "../observe/health.ts";
import { type LeaderObserver, leaderMetrics } from "../observe/leader-metrics.ts";
import { startLoopMonitor } from "../observe/loop-monitor.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import { createPlanner, type Planner } from "../plan/planner.ts";
import { cacheCheck, leaderCheck } from "./checks.ts";
import { joinHooks, overlayHooks } from "./client-hooks.ts";
import { ManagerStoppedError } from "./errors.ts";
import { explain } from "./explain.ts";
import { createFence, type Fence, openFence } from "./fence.ts";
import { createForeignLeases } from "./foreign-lease.ts";
import { createLeaderElector, type LeaderElector } from "./leader-election.ts";
import { createLifecycle } from "./lifecycle.ts";
import type { ManagerHandle, ManagerOptions } from "./manager-types.ts";
import type { Manager } from "./types.ts";
import { createWorkGroup, describe, needsLeader, type WorkGroup } from "./work-group.ts";
import { createWriteJournal, type WriteJournal } from "./write-journal.ts";

/** Lag of the event loop that is logged when there is no retry period of leader election to measure by. */
const DEFAULT_LAG_WARNING_MS = 2_000;

/** Builds a manager; nothing is sent and nothing listens before {@link ManagerHandle.start}. */
export function createManager(options: ManagerOptions): ManagerHandle {
  const { clock, log, metrics, election, cache } = options;
  const observer = leaderMetrics(metrics, election?.lease.name);
  const fence = fenceOf(options, observer);
  const elector = electorOf(options, fence, observer);
  const onFailure = (error: unknown): void => void lifecycle.fail(error);
  const leaderWork = createWorkGroup({ log, onFailure });
  const everyReplicaWork = createWorkGroup({ log, onFailure });
  const controllers = (): Controller[] => [...leaderWork.controllers(), ...everyReplicaWork.controllers()];
  const dropped = metrics.counter("quartet_events_dropped_total", "Events that were not sent.");
  const events = createEventSink({
    clock,
    log: log.named("events"),
    instance: options.instance,
    onDropped: () => dropped.inc(),
  });
  const warnAboveMs = election?.retryPeriodMs ?? DEFAULT_LAG_WARNING_MS;
  const loop = startLoopMonitor({ clock, log, warnAboveMs });
  const lifecycle = createLifecycle(options, {
    elector,
    leaderWork,
    everyReplicaWork,
    events,
    loop,
    observer,
  });

  const currentRun = (): RunContext | undefined => runContext.getStore();
  const journal = createWriteJournal(cache, clock, () => currentRun()?.key);
  const planner = createPlanner({ cache, clock, currentRun });
  const { clientOf, ...given } = contract(options, {
    fence,
    events,
    everyReplicaWork,
    onFailure,
    journal,
    planner,
  });

  const handle: ManagerHandle = {
    ...given,
    forModule: (name) => (options.runsDry?.(name) ? { ...handle, client: clientOf(name) } : handle),
    add(work) {
      if (lifecycle.isStopping()) throw new ManagerStoppedError(describe(work));
      (needsLeader(work) ? leaderWork : everyReplicaWork).add(work);
    },
    start: lifecycle.start,
    stop: lifecycle.stop,
    fail: lifecycle.fail,
    ended: lifecycle.ended,
    leading: lifecycle.leading,
    isLeader: () => elector?.isLeader() ?? true,
    healthz: new Map<string, HealthCheck>([
      ["ping", () => undefined],
      ["event-loop", loop.check],
      ["leader", leaderCheck(() => elector?.sinceRenewal(), election?.leaseDurationMs ?? 0)],
    ]),
    readyz: new Map<string, HealthCheck>([
      ["caches", cacheCheck({ cache, controllers, clock })],
      ...(options.webhooks ? [["webhook", options.webhooks.check] as const] : []),
      ["shutdown", () => (lifecycle.isStopping() ? "the manager is stopping" : undefined)],
    ]),
    controllers,
    explain: (kind, key) =>
      explain(kind, key, {
        controllers: controllers(),
        cache,
        journal,
        leader: elector?.isLeader() ?? true,
        planOf: (name) => (options.runsDry?.(name) ? planner.entries(name, key) : undefined),
      }),
  };
  return handle;
}

interface ContractParts {
  fence: Fence;
  events: EventSink;
  everyReplicaWork: WorkGroup;
  onFailure: (error: unknown) => void;
  journal: WriteJournal;
  planner: Planner;
}

/** What the manager hands to controller packages, and the client under a name. */
function contract(
  options: ManagerOptions,
  parts: ContractParts,
): Omit<Manager, "add"> & { clientOf(name: string): Client } {
  const { client, cache, clock, log, metrics, features, namespaces, identity } = options;
  const overlay = overlayHooks(cache);
  const names = new Set<string>();
  /** What is not known to run on every replica counts as leader work. */
  const fencedClient = (name: string): Client => {
    const fenced: ClientHooks = {
      beforeWrite(info) {
        if (!parts.everyReplicaWork.has(name)) parts.fence.hooks.beforeWrite?.(info);
      },
    };
    return client.forController(name, joinHooks(fenced, parts.journal.hooks(name), overlay));
  };
  const runsDry = options.runsDry ?? (() => false);
  const clientOf = (name: string): Client => {
    if (!runsDry(name)) return fencedClient(name);
    // A plan has a log line of its own, with all that the event's note may have to leave out.
    const events = parts.events.recorder(name, fencedClient(name));
    return parts.planner.client(name, fencedClient(name), { log, events });
  };
  const eventLog = log.named("events");
  /** What a dry run says it did has not happened. */
  const eventsOf = (name: string): EventRecorder =>
    runsDry(name) ? unsentEvents(eventLog) : parts.events.recorder(name, fencedClient(name), eventLog);
  return {
    clientOf,
    client: fencedClient("manager"),
    cache,
    log,
    metrics,
    clock,
    features,
    namespaces,
    events: eventsOf,
    controller(name) {
      const deps: ControllerDeps = {
        cache,
        client: clientOf(name),
        clock,
        log: log.named("controller"),
        events: eventsOf(name),
        features,
        defaults: options.controllerDefaults(name),
        cacheSyncTimeoutMs: options.cacheSyncTimeoutMs,
        ...(options.controllerObserver && { observer: options.controllerObserver }),
        ...(runsDry(name) && { plannedRuns: parts.planner.runs(name) }),
        ...(!options.recoverPanic && { onFatal: parts.onFailure }),
      };
      return createControllerBuilder(name, deps, names);
    },
    foreignLease: createForeignLeases({ client, clock, identity }),
  };
}

/** Notes events in the log instead of sending them. */
function unsentEvents(log: Logger): EventRecorder {
  return {
    record: (_regarding, { reason, note }) => log.debug("Event of a dry run not sent", { reason, note }),
  };
}

function fenceOf({ clock, election }: ManagerOptions, observer: LeaderObserver): Fence {
  if (election === undefined) return openFence();
  const { renewDeadlineMs } = election;
  return createFence({ clock, renewDeadlineMs, onFenced: observer.onFencedWrite });
}

function electorOf(
  options: ManagerOptions,
  fence: Fence,
  observer: LeaderObserver,
): LeaderElector | undefined {
  const { client, clock, log, identity, election } = options;
  if (election === undefined) return undefined;
  return createLeaderElector({
    client: client.forController("leader-election"),
    clock,
    log: log.named("leader-election"),
    lease: election.lease,
    identity,
    timings: election,
    fence,
    observer,
  });
}
