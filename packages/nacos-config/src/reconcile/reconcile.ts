/** One pass over one resource: cache, desired, difference, writes, health, status. */
import {
  type Clock,
  childrenOf,
  type DeepReadonly,
  isConflict,
  keyToString,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
  type Result,
  type Source,
  seconds,
} from "@quartet/core";
import { validate } from "../admission/validate.ts";
import type { Violation } from "../admission/violation.ts";
import type { Nacos } from "../api.gen.ts";
import type { DatabaseLimits } from "../database/connection.ts";
import { FAMILY } from "../desired/family.ts";
import type { StatefulSet } from "../desired/k8s.ts";
import { PAUSED_ANNOTATION } from "../desired/names.ts";
import { PEER_REVISION } from "../desired/revision.ts";
import { isForcedAdoption, type NacosResource, settingsOf } from "../desired/settings.ts";
import { requestedRevision, revisionOf } from "../desired/statefulset.ts";
import { NACOS } from "../kinds.ts";
import { recordEvent } from "../status/events.ts";
import { EVENT_CODES } from "../status/outcome.ts";
import { COLLECT_MS, differInProgressOnly, isMoving } from "../status/progress.ts";
import { firstStatus, type NacosStatus, nextStatus } from "../status/status.ts";
import { adminStep } from "./admin-step.ts";
import { authStep } from "./auth-step.ts";
import { cleanupStep } from "./cleanup-step.ts";
import { type ConfigResult, configStep } from "./config-step.ts";
import { databaseStep } from "./database-step.ts";
import { findSource } from "./interests.ts";
import { type MemoryStore, noteGeneration, type ResourceMemory } from "./memory.ts";
import { mysqlStep } from "./mysql-step.ts";
import { type ObserveOptions, observe, podsOf } from "./observe.ts";
import type { Informers, Pass } from "./pass.ts";
import { reportPeer } from "./peer.ts";
import { finishRecreation, recreationOf } from "./recreate-step.ts";
import { referredBy } from "./references.ts";
import { isNamespaceGoing, nextPass, tell, tellSteps } from "./report.ts";
import { createHold } from "./rollout-hold.ts";
import { servicesStep } from "./services-step.ts";
import { statefulSetStep } from "./statefulset-step.ts";

/** Wait between the first status and the pass that creates objects, in milliseconds: the least that the core takes. */
const FIRST_PASS_DELAY_MS = 100;

export interface ReconcilerOptions extends Omit<ObserveOptions, "referred"> {
  readonly nacos: () => Source<Nacos>;
  readonly informers: () => Informers;
  readonly memories: MemoryStore;
  readonly databases: DatabaseLimits;
  /** Time after which a resource without news is looked at again, in milliseconds. */
  readonly resyncMs: number;
  /** True while another Nacos operator is at work in the namespace. */
  readonly peerActive: (namespace: string) => Promise<boolean>;
}

type PassOptions = ReconcilerOptions & Pick<ObserveOptions, "referred">;

/** The reconcile function of the controller. */
export function createReconciler(options: ReconcilerOptions): Reconcile {
  return async (key, ctx): Promise<Result | undefined> => {
    const resource = options.nacos().get(key);
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      options.probes.forget(key);
      options.nodeWatch.forget(key);
      options.memories.forget(keyToString(key));
      options.metrics.forget(key);
      return;
    }
    // A dry run beside the peer is what a take-over is prepared with; it writes nothing anyway.
    const silent = ctx.dryRun !== true && (await options.peerActive(key.namespace));
    if (silent) return reportPeer(resource, ctx, options.clock);
    if (!resource.status?.phase && ctx.dryRun !== true) {
      await ctx.client.patchStatus(
        NACOS,
        resource,
        { ...resource.status, ...firstStatus() },
        { signal: ctx.signal },
      );
      return { requeueAfter: FIRST_PASS_DELAY_MS, exact: true };
    }
    try {
      return await pass(key, resource, ctx, { ...options, referred: referredBy(ctx.cache) });
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
  options: PassOptions,
): Promise<Result> {
  const { clock } = options;
  const memory = options.memories.of(keyToString(key), resource.metadata.uid ?? "");
  noteGeneration(memory, resource.metadata.generation ?? 0, resource.status?.observedGeneration, clock.now());
  const run: Pass = {
    resource,
    settings: settingsOf(resource),
    ctx,
    informers: options.informers(),
    failures: [],
    reports: [],
    stepStatus: {},
    notices: [],
    children: childrenOf(ctx, {
      family: FAMILY,
      owner: resource,
      memory: memory.children,
      clock,
    }),
  };
  const found = run.informers.statefulSets.get({ namespace: key.namespace, name: key.name });
  const claim = found && run.children.claim(found, isForcedAdoption(resource)).state;
  const live = claim === "ours" ? found : undefined;
  const recreation = live === undefined ? recreationOf(run) : undefined;
  const known = live ?? recreation?.manifest;
  // A StatefulSet that is about to be adopted limits what the resource may ask for, as one of ours does.
  const violations = violationsOf(resource, known ?? (claim === "adoptable" ? found : undefined));
  const paused = resource.metadata.annotations?.[PAUSED_ANNOTATION] === "true";
  const writes = violations.length === 0 && !paused;

  const database = await databaseStep(run, memory, options, writes && ctx.dryRun !== true);
  await adminStep(run, memory, options, { writes: writes && ctx.dryRun !== true, waiting: database.asking });
  const config = await configStep(run, known, (ref) => findSource(options.referred, ref), writes);
  const made: Children = writes
    ? await children(run, config, live, memory, options, database.startable || known !== undefined)
    : { object: live ?? (recreation && (await finishRecreation(run, recreation))), recreating: false };
  await mysqlStep(run, writes && !isNamespaceGoing(run.failures));
  const given = {
    violations,
    paused,
    recreating: made.recreating,
    ...(made.awaited && { awaited: made.awaited }),
  };
  const outcome = await observe(run, config, made.object, given, memory, options);
  if (outcome === undefined) return tellSteps(run);
  const status = nextStatus(resource, outcome);
  const next = nextPass(run, outcome, memory, options.resyncMs);
  const wait = isMoving(outcome, status) ? collect(memory, resource.status, status, clock.now()) : 0;
  if (wait > 0) return { ...tellSteps(run), requeueAfter: Math.min(wait, next.requeueAfter ?? wait) };
  delete memory.collectingSince;
  await ctx.client.patchStatus(NACOS, resource, status, { signal: ctx.signal });
  tell(run, config, status, memory);
  return next;
}

/** How long news is collected before it is written, in milliseconds; 0 when it is due. */
function collect(
  memory: ResourceMemory,
  before: NacosResource["status"],
  after: NacosStatus,
  now: number,
): number {
  if (!differInProgressOnly((before ?? {}) as NacosStatus, after)) return 0;
  memory.collectingSince ??= now;
  return memory.collectingSince + COLLECT_MS - now;
}

function violationsOf(resource: NacosResource, live: DeepReadonly<StatefulSet> | undefined): Violation[] {
  if (live === undefined) return validate(resource);
  return validate(resource, {
    type: live.spec.serviceName ? "cluster" : "standalone",
    adopted: revisionOf(live) === PEER_REVISION && requestedRevision(resource) === undefined,
  });
}

interface Children {
  /** The StatefulSet, when there is one at the end. */
  readonly object: DeepReadonly<StatefulSet> | undefined;
  /** The StatefulSet is being made anew around its pods. */
  readonly recreating: boolean;
  /** A change of the pods waits for so many ready ones to become available. */
  readonly awaited?: number;
}

/**
 * Writes everything below the resource.
 * @param startable false when pods must not be started yet
 */
async function children(
  run: Pass,
  config: ConfigResult,
  live: DeepReadonly<StatefulSet> | undefined,
  memory: ResourceMemory,
  options: PassOptions,
  startable: boolean,
): Promise<Children> {
  await authStep(run, live, memory, options.clock.now());
  let statefulSet = live;
  let recreating = false;
  let awaited: number | undefined;
  if (config.wanted !== undefined && startable) {
    const hold = createHold(memory, options.clock, (set) => podsOf(run, set, options.referred));
    const result = await statefulSetStep(run, config.wanted, hold);
    statefulSet = result.object;
    recreating = result.recreating;
    awaited = result.awaited;
    if (result.scaledFrom !== undefined) memory.scaledFrom = result.scaledFrom;
    if (result.configRollout) options.metrics.rollout();
  }
  const made = { object: statefulSet, recreating, ...(awaited && { awaited }) };
  if (isNamespaceGoing(run.failures) || recreating) return made;
  await servicesStep(run, statefulSet);
  if (config.wanted !== undefined && config.problem === undefined) {
    await cleanupStep(run, config.wanted, statefulSet, podsOf(run, statefulSet, options.referred));
  }
  return made;
}
