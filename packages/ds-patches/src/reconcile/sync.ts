/** Brings the pods of a pass to what is wanted: missing ones, those that are too many, and the rolling update. */
import { messageOf } from "@quartet/core";
import { burstOf, type Deletion, type ManageSettings, planManagement } from "../desired/manage.ts";
import type { PodFacts } from "../desired/objects.ts";
import { nextAvailability, planRolling } from "../desired/rolling.ts";
import { minReadyMsOf, type Strategy, strategyOf } from "../desired/strategy.ts";
import type { DaemonSet } from "../kinds.ts";
import { createPods } from "./create.ts";
import { deletePods } from "./delete.ts";
import { type InPlaceUpdate, inPlacePlanner, updateInPlace } from "./in-place.ts";
import { type DaemonSetMemory, failurePause } from "./memory.ts";
import type { Observation, ObservedNode } from "./observe.ts";
import { type Done, type PodWork, tell, together } from "./work.ts";

/** Pods that are created, and deleted, in one pass at most, unless the spec says otherwise (peer). */
const DEFAULT_BURST = 250;

export interface Synced {
  readonly done: Done;
  /** Look again after so many milliseconds, whatever happens. */
  readonly againInMs: number | undefined;
}

interface Moment {
  readonly minReadyMs: number;
  readonly now: number;
}

/** Creates and deletes what is missing or too much; only when nothing of it was done, the rolling update goes on. */
export async function syncPods(observation: Observation, work: PodWork): Promise<Synced> {
  const { daemonSet, memory, clock } = work;
  const { nodes, settlesInMs } = observation;
  const { spec } = daemonSet as DaemonSet;
  const moment = { minReadyMs: minReadyMsOf(spec), now: clock.now() };
  const strategy = strategyOf(spec);
  const settings: ManageSettings = {
    surge: strategy.surges,
    burst: spec.burstReplicas ?? DEFAULT_BURST,
    creationPartition: spec.scaleStrategy?.partitionedScaling === true ? strategy.partition : 0,
    ...moment,
  };
  reportBroken(nodes, work);
  reportUnknown(nodes, work);
  const plan = planManagement(nodes, settings);
  const { due, waitMs } = dueDeletions(plan.remove, memory, moment.now);
  const pods = nodes.flatMap((node) => node.pods);
  const waits = [waitMs, settlesInMs, nextAvailability(pods, moment)].filter((wait) => wait !== undefined);
  const againInMs = waits.length === 0 ? undefined : Math.min(...waits);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const deleted = await deletePods(due, work);
  const created = await createPods(onNodes(plan.create, byName), work);
  const managed = together(deleted, created);
  if (managed.writes + managed.errors.length > 0 || !strategy.rolls) return { done: managed, againInMs };
  return { done: together(managed, await roll(byName, { strategy, settings, moment }, work)), againInMs };
}

/** A step of the rolling update. Nodes without a pod count as unavailable in it, whatever keeps them from having one. */
async function roll(
  byName: ReadonlyMap<string, ObservedNode>,
  { strategy, settings, moment }: { strategy: Strategy; settings: ManageSettings; moment: Moment },
  work: PodWork,
): Promise<Done> {
  const nodes = [...byName.values()];
  const { selectsNode } = work.memory.compiled;
  const isSelected = (name: string): boolean => selectsNode(byName.get(name)?.labels ?? {});
  const step = planRolling(nodes, { ...strategy, isSelected, ...moment });
  const desired = nodes.filter(({ eligibility }) => eligibility?.shouldRun).length;
  const burst = burstOf(settings.burst, desired);
  const { updates, replaced } = divided(step.replace.slice(0, burst), byName, work);
  return together(
    await updateInPlace(updates, work),
    await deletePods(replaced, work),
    await createPods(onNodes(step.surge.slice(0, burst), byName), work),
  );
}

/** Stale pods by what can be done for them. */
function divided(
  pods: readonly PodFacts[],
  byName: ReadonlyMap<string, ObservedNode>,
  work: PodWork,
): { updates: InPlaceUpdate[]; replaced: Deletion[] } {
  const planned = inPlacePlanner(work);
  const { isInPlace } = strategyOf(work.daemonSet.spec as DaemonSet["spec"]);
  const updates: InPlaceUpdate[] = [];
  const replaced: Deletion[] = [];
  for (const pod of pods) {
    const update = isInPlace ? planned(pod, byName.get(pod.node)!) : undefined;
    if (update === undefined) replaced.push({ pod, reason: "replaced" });
    else updates.push(update);
  }
  return { updates, replaced };
}

function onNodes(names: readonly string[], byName: ReadonlyMap<string, ObservedNode>): ObservedNode[] {
  return names.map((name) => byName.get(name)!);
}

/** One event and one count for each set of patches that cannot be applied, in each generation (DSP-511). */
function reportBroken(nodes: readonly ObservedNode[], work: PodWork): void {
  const { memory, metrics, daemonSet } = work;
  for (const { problem, match } of nodes) {
    const check = match && memory.templates.get(match.mask);
    if (problem === undefined || check === undefined || check.told) continue;
    check.told = true;
    metrics.failed(daemonSet, problem.reason);
    const note = messageOf(problem);
    tell(work, { type: "Warning", reason: "FailedApplyPatch", note, distinct: note });
  }
}

/** One event for each field of a patch that this cluster does not have, in each generation (DSP-439). */
function reportUnknown(nodes: readonly ObservedNode[], work: PodWork): void {
  const { templates, compiled } = work.memory;
  for (const { problem, match } of nodes) {
    const check = match && templates.get(match.mask);
    if (problem !== undefined || check === undefined || check.told) continue;
    check.told = true;
    for (const { index, path } of compiled.templateOf(match!.mask).unknown) {
      const note = `patches[${index}]: ${path} is unknown and left out`;
      tell(work, { type: "Warning", reason: "UnknownPatchField", note, distinct: note });
    }
  }
}

/** Deletions without those of failed pods whose node is still in its pause. */
function dueDeletions(
  deletions: readonly Deletion[],
  memory: DaemonSetMemory,
  now: number,
): { due: Deletion[]; waitMs: number | undefined } {
  let waitMs: number | undefined;
  const due = deletions.filter(({ pod, reason }) => {
    const pause = reason === "failed" ? failurePause(memory, pod.node, now) : 0;
    if (pause > 0) waitMs = Math.min(waitMs ?? pause, pause);
    return pause === 0;
  });
  return { due, waitMs };
}
