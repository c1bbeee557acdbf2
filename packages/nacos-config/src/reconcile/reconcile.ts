/** One pass over one resource: cache, desired, difference, writes, health, status. */
import {
  type Clock,
  type DeepReadonly,
  type Informer,
  isConflict,
  keyToString,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
  type Result,
  seconds,
} from "@quartet/core";
import { validate } from "../admission/validate.ts";
import type { Violation } from "../admission/violation.ts";
import type { Nacos } from "../api.gen.ts";
import type { Pod, StatefulSet } from "../desired/k8s.ts";
import { PAUSED_ANNOTATION, TEMPLATE_REVISION_ANNOTATION } from "../desired/names.ts";
import { claimOf } from "../desired/ownership.ts";
import { type NacosResource, settingsOf } from "../desired/settings.ts";
import { specNotices } from "../desired/spec-notices.ts";
import { mountedConfig } from "../desired/volumes.ts";
import { nodesOf } from "../health/node-facts.ts";
import { NACOS } from "../kinds.ts";
import { recordEvent } from "../status/events.ts";
import { type ConfigReport, EVENT_CODES, type Outcome } from "../status/outcome.ts";
import { firstStatus, type NacosStatus, nextStatus } from "../status/status.ts";
import { transitions } from "../status/transitions.ts";
import { authStep } from "./auth-step.ts";
import { retryDelay } from "./backoff.ts";
import { cleanupStep } from "./cleanup-step.ts";
import { type ConfigResult, configStep } from "./config-step.ts";
import { type HealthSettings, healthStep, portNotice } from "./health-step.ts";
import { findSource, interestsOf, strangePods } from "./interests.ts";
import {
  type MemoryStore,
  memoryView,
  noteGeneration,
  noteHealth,
  noteRollout,
  type ResourceMemory,
} from "./memory.ts";
import type { ConfigMetrics } from "./metrics.ts";
import type { Informers, Pass } from "./pass.ts";
import { reportPeer } from "./peer.ts";
import { finishRecreation, recreationOf } from "./recreate-step.ts";
import { servicesStep } from "./services-step.ts";
import { statefulSetStep } from "./statefulset-step.ts";
import type { WatchSet } from "./watch-set.ts";
import { workloadReport } from "./workload.ts";

/** Wait between the first status and the pass that creates objects, in milliseconds: the least that the core takes. */
const FIRST_PASS_DELAY_MS = 100;

export interface ReconcilerOptions {
  readonly nacos: () => Informer<Nacos>;
  readonly informers: () => Informers;
  readonly watches: WatchSet;
  readonly memories: MemoryStore;
  readonly metrics: ConfigMetrics;
  readonly clock: Clock;
  readonly health: HealthSettings;
  /** Time after which a resource without news is looked at again, in milliseconds. */
  readonly resyncMs: number;
  /** True while another Nacos operator is at work in the namespace. */
  readonly peerActive: (namespace: string) => Promise<boolean>;
}

/** The reconcile function of the controller. */
export function createReconciler(options: ReconcilerOptions): Reconcile {
  return async (key, ctx): Promise<Result | undefined> => {
    const resource = options.nacos().get(key);
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      options.watches.forget(key);
      options.memories.forget(keyToString(key));
      options.metrics.forget(key);
      return;
    }
    if (await options.peerActive(key.namespace)) return reportPeer(resource, ctx, options.clock);
    if (!resource.status?.phase) {
      await ctx.client.patchStatus(
        NACOS,
        resource,
        { ...resource.status, ...firstStatus() },
        { signal: ctx.signal },
      );
      return { requeueAfter: FIRST_PASS_DELAY_MS, exact: true };
    }
    try {
      return await pass(key, resource, ctx, options);
    } catch (error) {
      if (!ctx.signal.aborted && !isConflict(error)) await reportException(resource, ctx, options.clock);
      throw error;
    }
  };
}

/** Leaves a trace in the status of an error that no step has expected; the log has its text. */
async function reportException(resource: NacosResource, ctx: ReconcileContext, clock: Clock): Promise<void> {
  const message = "the pass failed unexpectedly; see the operator's log";
  const event = recordEvent(resource.status?.event ?? [], EVENT_CODES.other, message, seconds(clock.now()));
  try {
    await ctx.client.patchStatus(NACOS, resource, { ...resource.status, event }, { signal: ctx.signal });
  } catch {
    // The first error tells more than the failure to report it.
  }
}

async function pass(
  key: ObjectKey,
  resource: NacosResource,
  ctx: ReconcileContext,
  options: ReconcilerOptions,
): Promise<Result> {
  const { watches, clock } = options;
  const memory = options.memories.of(keyToString(key), resource.metadata.uid ?? "");
  noteGeneration(memory, resource.metadata.generation ?? 0, resource.status?.observedGeneration, clock.now());
  const run: Pass = {
    resource,
    settings: settingsOf(resource),
    ctx,
    informers: options.informers(),
    failures: [],
    notices: [],
  };
  const live = ownStatefulSet(run);
  const recreation = live === undefined ? recreationOf(run) : undefined;
  const known = live ?? recreation?.manifest;
  await watches.follow(key, interestsOf(run.settings, known), ctx.signal);
  const violations = violationsOf(resource, known);
  const paused = resource.metadata.annotations?.[PAUSED_ANNOTATION] === "true";
  const writes = violations.length === 0 && !paused;

  const config = await configStep(run, known, (ref) => findSource(watches, key.namespace, ref), writes);
  const made = writes
    ? await children(run, config, live, memory, options)
    : { object: live ?? (recreation && (await finishRecreation(run, recreation))), recreating: false };
  const given = { violations, paused, recreating: made.recreating };
  const outcome = await observe(run, config, made.object, given, memory, options);
  const status = nextStatus(resource, outcome);
  await ctx.client.patchStatus(NACOS, resource, status, { signal: ctx.signal });
  tell(run, config, status);
  return next(run, outcome, memory, options.resyncMs);
}

/** The live StatefulSet when it is the resource's own. */
function ownStatefulSet({ informers, resource, settings }: Pass): DeepReadonly<StatefulSet> | undefined {
  const live = informers.statefulSets.get({ namespace: settings.namespace, name: settings.name });
  return live !== undefined && claimOf(live, resource).state === "ours" ? live : undefined;
}

function violationsOf(resource: NacosResource, live: DeepReadonly<StatefulSet> | undefined): Violation[] {
  if (live === undefined) return validate(resource);
  return validate(resource, {
    type: live.spec.serviceName ? "cluster" : "standalone",
    adopted: live.metadata.annotations?.[TEMPLATE_REVISION_ANNOTATION] === undefined,
  });
}

interface Children {
  /** The StatefulSet, when there is one at the end. */
  readonly object: DeepReadonly<StatefulSet> | undefined;
  /** It is being made anew around its pods. */
  readonly recreating: boolean;
}

/** Writes everything below the resource. */
async function children(
  run: Pass,
  config: ConfigResult,
  live: DeepReadonly<StatefulSet> | undefined,
  memory: ResourceMemory,
  options: ReconcilerOptions,
): Promise<Children> {
  await authStep(run, live, memory, options.clock.now());
  let statefulSet = live;
  let recreating = false;
  if (config.wanted !== undefined) {
    const result = await statefulSetStep(run, config.wanted, memory);
    statefulSet = result.object;
    recreating = result.recreating;
    if (result.scaledFrom !== undefined) memory.scaledFrom = result.scaledFrom;
    if (result.configRollout) options.metrics.rollout();
  }
  const made = { object: statefulSet, recreating };
  if (isNamespaceGoing(run) || recreating) return made;
  await servicesStep(run, statefulSet);
  if (config.wanted !== undefined && config.problem === undefined) {
    await cleanupStep(run, config.wanted, statefulSet, podsOf(run, statefulSet, options.watches));
  }
  return made;
}

/** True when nothing can be created any more: further tries would only fail. */
function isNamespaceGoing({ failures }: Pass): boolean {
  return failures.some(({ reason }) => reason === "NamespaceTerminating");
}

function podsOf(
  { informers, settings }: Pass,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
  watches: WatchSet,
): readonly DeepReadonly<Pod>[] {
  if (statefulSet === undefined) return [];
  const strangers = strangePods(statefulSet);
  if (strangers !== undefined) return watches.read(strangers) ?? [];
  return informers.pods.list({ namespace: settings.namespace, labels: { app: settings.name } });
}

/** What there is after the writes. */
async function observe(
  run: Pass,
  config: ConfigResult,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
  given: { violations: readonly Violation[]; paused: boolean; recreating: boolean },
  memory: ResourceMemory,
  { clock, health: healthSettings, watches, metrics }: ReconcilerOptions,
): Promise<Outcome> {
  const { settings } = run;
  metrics.merged(run, config);
  const base = {
    replicas: settings.replicas,
    standalone: settings.type === "standalone",
    ...given,
    config: configReport(run, config, statefulSet),
    failures: run.failures,
  };
  if (statefulSet === undefined) return { ...base, now: clock.now(), memory: memoryView(memory) };
  const nodes = nodesOf(statefulSet, podsOf(run, statefulSet, watches));
  const workload = workloadReport(statefulSet, nodes, memory.scaledFrom);
  if (!workload.scaling && !workload.rolling) delete memory.scaledFrom;
  noteRollout(
    memory,
    workload.rolling,
    statefulSet.status?.updateRevision,
    clock.now(),
    rolloutSince(run.resource),
  );
  const properties = config.ready?.effective ?? new Map<string, string>();
  const health = await healthStep(run, healthSettings, watches, memory, statefulSet, nodes, properties);
  if (health !== undefined) noteHealth(memory, health, clock.now());
  return {
    ...base,
    now: clock.now(),
    workload,
    ...(health === undefined ? {} : { health }),
    memory: memoryView(memory),
  };
}

/** Begin of a rollout that the status tells of, in milliseconds since the Unix epoch. */
function rolloutSince({ status }: NacosResource): number | undefined {
  const progressing = status?.operatorConditions?.find(({ type }) => type === "Progressing");
  return progressing?.reason === "RollingUpdate" ? Date.parse(progressing.lastTransitionTime) : undefined;
}

function configReport(
  { settings }: Pass,
  { problem, ready }: ConfigResult,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): ConfigReport {
  const mounted = statefulSet === undefined ? { mode: "none" as const } : mountedConfig(statefulSet);
  const merged = mounted.mode === "merged";
  return {
    mode: settings.config.mode,
    message: ready?.message ?? "",
    ...(problem === undefined ? {} : { problem }),
    mounted: {
      digest: merged ? mounted.digest : "",
      finalName: merged ? mounted.name : "",
      finalKind: merged ? mounted.kind : "",
    },
  };
}

/** Sends the pass's events: those of steps, those of the spec or the content when they are new, and transitions. */
function tell(
  { ctx, resource, settings, notices }: Pass,
  { ready }: ConfigResult,
  status: NacosStatus,
): void {
  const before = (resource.status ?? {}) as NacosStatus;
  const all = [...notices, ...transitions(before, status)];
  if (before.observedGeneration !== resource.metadata.generation) all.push(...specNotices(settings));
  if (ready !== undefined && before.configDigest !== ready.digest) {
    const port = portNotice(ready.effective);
    all.push(...ready.notices, ...(port ? [port] : []));
  }
  for (const notice of all) ctx.events.record(resource, notice);
}

/** When to look again: soon while something is wrong or under way, else after the resync time. */
function next(run: Pass, outcome: Outcome, memory: ResourceMemory, resyncMs: number): Result {
  if (isNamespaceGoing(run)) return {};
  const { health, config, workload, violations } = outcome;
  const failure = run.failures[0];
  const what =
    failure?.reason ??
    (health?.state === "failed" ? health.reason : undefined) ??
    config.problem?.reason ??
    violations[0]?.reason ??
    (workload?.rolling || workload?.scaling || outcome.recreating ? "InProgress" : undefined);
  if (what !== undefined) {
    if (failure !== undefined)
      run.ctx.log.warn("step failed", { reason: failure.reason, detail: failure.message });
    return { requeueAfter: retryDelay(memory, what, outcome.now) };
  }
  delete memory.failing;
  return { requeueAfter: resyncMs };
}
