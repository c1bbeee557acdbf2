/** One pass over one resource: cache, desired, difference, writes, health, status. */
import {
  type Clock,
  type DeepReadonly,
  isConflict,
  keyToString,
  type Reconcile,
  type ReconcileContext,
  type Result,
  seconds,
} from "@quartet/core";
import { STATEFUL_SET, type StatefulSet } from "@quartet/core/kinds";
import { type Violation, validate } from "../admission/validate.ts";
import type { ConfigResult } from "../desired/config.ts";
import { PAUSED_ANNOTATION } from "../desired/names.ts";
import { PEER_REVISION } from "../desired/revision.ts";
import { isForcedAdoption, type NacosResource } from "../desired/settings.ts";
import { requestedRevision, revisionOf } from "../desired/statefulset.ts";
import { NACOS } from "../kinds.ts";
import { recordEvent } from "../status/events.ts";
import { EVENT_CODES } from "../status/outcome.ts";
import { COLLECT_MS, differInProgressOnly, isMoving } from "../status/progress.ts";
import { firstStatus, type NacosStatus, nextStatus } from "../status/status.ts";
import { adminStep } from "./admin-step.ts";
import { authStep } from "./auth-step.ts";
import { cleanupStep } from "./cleanup-step.ts";
import { configStep } from "./config-step.ts";
import { databaseStep } from "./database-step.ts";
import { type MemoryStore, noteGeneration, type ResourceMemory } from "./memory.ts";
import { mysqlStep } from "./mysql-step.ts";
import { observe } from "./observe.ts";
import { newPass, type Pass, type Tools } from "./pass.ts";
import { type PeerWatch, reportPeer } from "./peer.ts";
import { finishRecreation, recreationOf } from "./recreate-step.ts";
import { isNamespaceGoing, nextPass, tell, tellSteps } from "./report.ts";
import { servicesStep } from "./services-step.ts";
import { statefulSetStep } from "./statefulset-step.ts";

/** Wait between the first status and the pass that creates objects, in milliseconds: the least that the core takes. */
const FIRST_PASS_DELAY_MS = 100;

export interface ReconcilerOptions extends Tools {
  readonly memories: MemoryStore;
  /** Time after which a resource without news is looked at again, in milliseconds. */
  readonly resyncMs: number;
  /** Tells whether another Nacos operator is at work in a namespace. */
  readonly peer: PeerWatch;
}

/** The reconcile function of the controller. */
export function createReconciler(options: ReconcilerOptions): Reconcile {
  const { memories, resyncMs, peer, ...tools } = options;
  return async (key, ctx): Promise<Result | undefined> => {
    const resource = ctx.cache.source(NACOS).get(key);
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      tools.probes.forget(key);
      tools.nodeWatch.forget(key);
      tools.metrics.forget(key);
      memories.forget(keyToString(key));
      return;
    }
    // A dry run beside the peer is what a take-over is prepared with; it writes nothing anyway.
    const silent = ctx.dryRun !== true && (await peer.isActive(key.namespace, ctx.cache));
    if (silent) return reportPeer(resource, ctx, tools.clock);
    if (!resource.status?.phase && ctx.dryRun !== true) {
      const status = { ...resource.status, ...firstStatus() };
      await ctx.client.patchStatus(NACOS, resource, status, { signal: ctx.signal });
      return { requeueAfter: FIRST_PASS_DELAY_MS, exact: true };
    }
    const memory = memories.of(keyToString(key), resource.metadata.uid ?? "");
    try {
      return await pass(newPass(resource, ctx, memory, tools), resyncMs);
    } catch (error) {
      if (!ctx.signal.aborted && !isConflict(error)) await reportException(resource, ctx, tools.clock);
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

async function pass(run: Pass, resyncMs: number): Promise<Result> {
  const { resource, settings, ctx, memory, children, clock } = run;
  const { metadata, status: previous } = resource;
  noteGeneration(memory, metadata.generation ?? 0, previous?.observedGeneration, clock.now());
  const found = children.read(STATEFUL_SET, settings.name);
  const claim = found && children.claim(found, isForcedAdoption(resource)).state;
  const live = claim === "ours" ? found : undefined;
  const recreation = live === undefined ? recreationOf(run) : undefined;
  const known = live ?? recreation?.manifest;
  // A StatefulSet that is about to be adopted limits what the resource may ask for, as one of ours does.
  const violations = violationsOf(resource, known ?? (claim === "adoptable" ? found : undefined));
  const paused = metadata.annotations?.[PAUSED_ANNOTATION] === "true";
  const writes = violations.length === 0 && !paused;

  const asks = writes && ctx.dryRun !== true;
  const database = await databaseStep(run, asks);
  await adminStep(run, { writes: asks, waiting: database.asking });
  const config = await configStep(run, known, writes);
  const made = writes
    ? await writeChildren(run, config, live, database.startable || known !== undefined)
    : (live ?? (recreation && (await finishRecreation(run, recreation))));
  await mysqlStep(run, writes && !isNamespaceGoing(run.failures));
  const outcome = await observe(run, config, made, { violations, paused });
  if (outcome === undefined) return tellSteps(run);
  const status = nextStatus(resource, outcome);
  const next = nextPass(run, outcome, resyncMs);
  const wait = isMoving(outcome, status) ? collect(memory, previous, status, clock.now()) : 0;
  if (wait > 0) return { ...tellSteps(run), requeueAfter: Math.min(wait, next.requeueAfter ?? wait) };
  delete memory.collectingSince;
  await ctx.client.patchStatus(NACOS, resource, status, { signal: ctx.signal });
  tell(run, config, status);
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

/**
 * Writes everything below the resource; the StatefulSet, when there is one at the end.
 * @param startable false when pods must not be started yet
 */
async function writeChildren(
  run: Pass,
  config: ConfigResult,
  live: DeepReadonly<StatefulSet> | undefined,
  startable: boolean,
): Promise<DeepReadonly<StatefulSet> | undefined> {
  const { wanted, problem } = config;
  await authStep(run, live);
  const statefulSet = wanted !== undefined && startable ? await statefulSetStep(run, wanted) : live;
  if (isNamespaceGoing(run.failures) || run.recreating) return statefulSet;
  await servicesStep(run, statefulSet);
  if (wanted !== undefined && problem === undefined) await cleanupStep(run, wanted, statefulSet);
  return statefulSet;
}
