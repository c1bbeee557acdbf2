/** The manager: starts everything in order, runs leader work while it leads, and stops everything in order. */
import { type RunContext, runContext } from "../controller/rejections.ts";
import type { Controller } from "../controller/types.ts";
import { createEventSink } from "../observe/events.ts";
import { type LeaderObserver, leaderMetrics } from "../observe/leader-metrics.ts";
import { startLoopMonitor } from "../observe/loop-monitor.ts";
import { createPlanner } from "../plan/planner.ts";
import { cacheCheck, controllerCheck, leaderCheck } from "./checks.ts";
import { ManagerStoppedError } from "./errors.ts";
import { explain } from "./explain.ts";
import { createFence, type Fence, openFence } from "./fence.ts";
import type { HealthCheck } from "./health-check.ts";
import { createLeaderElector, type LeaderElector } from "./leader-election.ts";
import { createLifecycle } from "./lifecycle.ts";
import type { ManagerHandle, ManagerOptions, ModuleIdentity } from "./manager-types.ts";
import { createModuleManagers } from "./module-manager.ts";
import { createWorkGroup, describe, isController, needsLeader, type Work } from "./work-group.ts";
import { createWriteJournal } from "./write-journal.ts";

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
  const managers = createModuleManagers(options, { fence, events, journal, planner, onFailure });
  const modules = new Map<string, ModuleIdentity>();
  const work = new Map<string, Work>();
  const add = (added: Work): void => {
    if (lifecycle.isStopping()) throw new ManagerStoppedError(describe(added));
    const other = work.get(added.name);
    if (other !== undefined)
      throw new Error(`cannot add ${describe(added)}: there is a ${describe(other)} already`);
    work.set(added.name, added);
    if (isController(added)) readyz.set(`controller-${added.name}`, controllerCheck(added));
    (needsLeader(added) ? leaderWork : everyReplicaWork).add(added);
  };
  const runsDry = (controller: Controller): boolean => {
    const module = managers.moduleOf(controller);
    return module !== undefined && options.runsDry?.(module) === true;
  };

  const readyz = new Map<string, HealthCheck>([
    [
      "caches",
      cacheCheck(() =>
        options.warmup || elector?.isLeader() !== false ? controllers() : everyReplicaWork.controllers(),
      ),
    ],
    ...(options.webhooks ? [["webhook", options.webhooks.check] as const] : []),
    ["shutdown", () => (lifecycle.isStopping() ? "the manager is stopping" : undefined)],
  ]);

  const handle: ManagerHandle = {
    ...managers.of(),
    cache,
    forModule(module, flags) {
      const known = modules.get(module.name) ?? module;
      if (known !== module) throw new Error(`there are two modules ${JSON.stringify(module.name)}`);
      modules.set(module.name, module);
      return { ...managers.of(module, flags), add };
    },
    moduleOf: managers.moduleOf,
    add,
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
    readyz,
    controllers,
    explain: (kind, key) =>
      explain(kind, key, {
        controllers: controllers(),
        cache,
        journal,
        leader: elector?.isLeader() ?? true,
        planOf: (controller) => (runsDry(controller) ? planner.entries(controller.name, key) : undefined),
      }),
  };
  return handle;
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
