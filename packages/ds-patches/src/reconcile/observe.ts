/** What is there: nodes with the DaemonSet's pods on them. */
import { setImmediate } from "node:timers/promises";
import { type DeepReadonly, sameJson } from "@quartet/core";
import type { Node, Pod } from "@quartet/core/kinds";
import type { Labels } from "../api.ts";
import type { Compiled } from "../desired/compiled.ts";
import type { PatchError } from "../desired/effective-template.ts";
import { isUpdateComplete } from "../desired/in-place.ts";
import {
  COMBINED_HASH,
  IN_PLACE_READY,
  KRUISE_POD_READY,
  LIFECYCLE_STATE,
  PATCHES_APPLIED,
  PREPARING_DELETE,
  REVISION_LABEL,
  TEMPLATE_GENERATION,
} from "../desired/keys.ts";
import type { NodePlan } from "../desired/manage.ts";
import type { NodeFacts, PodFacts } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";
import { pinnedNode, templateGeneration } from "../desired/pod.ts";
import type { DaemonSet } from "../kinds.ts";
import { checkTemplate, type DaemonSetMemory } from "./memory.ts";
import type { NodeView } from "./node-view.ts";

/** Nodes that are looked at before others get their turn (DSP-1049). */
const NODES_AT_A_TIME = 200;

/** No node has this name. */
const NOWHERE = "";

/** A node with its pods, and the patches that its labels select. */
export interface ObservedNode extends NodePlan {
  /** `undefined` for a node that does not exist. */
  readonly match: PatchMatch | undefined;
  readonly patchIndexes: readonly number[];
  readonly labels: Labels;
  /** A pod is stale by its patches alone. */
  readonly stalePatches: boolean;
  /** Why its template cannot be made. */
  readonly problem: PatchError | undefined;
}

export interface Observation {
  readonly nodes: readonly ObservedNode[];
  /** Until the labels of a node count as settled; milliseconds, `undefined` when all do (DSP-711). */
  readonly settlesInMs: number | undefined;
  /** Pods that wait for a condition that this controller has to set. */
  readonly gated: readonly Gated[];
}

/** A pod with a readiness gate that is to be opened. */
export interface Gated {
  readonly name: string;
  readonly uid: string;
  readonly gates: readonly string[];
}

export interface ObserveOptions {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly nodes: readonly DeepReadonly<Node>[];
  readonly memory: DaemonSetMemory;
  /** H_t; several while revisions of one template wait to be merged (DSP-609). */
  readonly revisions: ReadonlySet<string>;
  /** False while the feature gate is off: pods are told apart by their template alone. */
  readonly patchesEnabled: boolean;
  readonly settleMs: number;
  readonly now: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonic: () => number;
}

/** Computed once for each state of a node that the cache has seen (DSP-1041). */
function viewOf({ compiled, nodeViews }: DaemonSetMemory, node: DeepReadonly<Node>): NodeView {
  const known = nodeViews.get(node);
  if (known !== undefined) return known;
  const facts = nodeFacts(node);
  const view = { facts, match: compiled.matchOf(facts.labels), eligibility: compiled.eligibilityOf(facts) };
  nodeViews.set(node, view);
  return view;
}

export function nodeFacts({ metadata, spec }: DeepReadonly<Node>): NodeFacts {
  return {
    name: metadata.name ?? "",
    labels: metadata.labels ?? {},
    taints: (spec?.taints ?? []) as NodeFacts["taints"],
  };
}

interface Observing extends ObserveOptions {
  /** What was remembered of pods whose readiness lies ahead. */
  readonly aheadBefore: ReadonlyMap<string, number>;
}

/** Nodes in the order of their names, with those that are gone and still have pods. */
export async function observe(asked: ObserveOptions): Promise<Observation> {
  const { readyAhead } = asked.memory;
  // Of pods that are gone nothing is remembered.
  const options: Observing = { ...asked, aheadBefore: new Map(readyAhead) };
  readyAhead.clear();
  const byNode = Map.groupBy(options.pods, (pod) => pinnedNode(pod.spec as Pod["spec"]) ?? NOWHERE);
  // A pod that was taken over and names no node has one as soon as it is scheduled.
  byNode.delete(NOWHERE);
  let settlesInMs: number | undefined;
  const gated: Gated[] = [];
  const observed = (name: string, view: NodeView | undefined): ObservedNode => {
    const pods = byNode.get(name) ?? [];
    const match = view?.match;
    const settling = settleTime(options, name);
    const live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const facts = live.map((pod) => podFacts(pod, name, match, settling > 0, options));
    for (const pod of live) gated.push(...gatesToOpen(pod));
    const problem = match && checkTemplate(options.memory, match.mask, options.monotonic).problem;
    if (settling > 0 && facts.length > 0) settlesInMs = Math.min(settlesInMs ?? settling, settling);
    return {
      name,
      eligibility: view?.eligibility,
      pods: facts,
      // A pod that has ended runs nothing any more, though it may still be there.
      terminating: pods.some((pod) => pod.metadata.deletionTimestamp !== undefined && !hasEnded(pod)),
      broken: problem !== undefined,
      problem,
      match,
      patchIndexes: match?.indexes ?? [],
      labels: view?.facts.labels ?? {},
      stalePatches:
        options.patchesEnabled && live.some((pod) => combinedHashOf(pod) !== (match?.combinedHash ?? "")),
    };
  };
  const existing = new Set<string>();
  const nodes: ObservedNode[] = [];
  for (const [index, node] of options.nodes.entries()) {
    if (index % NODES_AT_A_TIME === NODES_AT_A_TIME - 1) await setImmediate();
    const view = viewOf(options.memory, node);
    existing.add(view.facts.name);
    nodes.push(observed(view.facts.name, view));
  }
  const gone = [...byNode.keys()]
    .filter((name) => !existing.has(name))
    .map((name) => observed(name, undefined));
  return { nodes: [...nodes, ...gone].sort((a, b) => (a.name < b.name ? -1 : 1)), settlesInMs, gated };
}

function hasEnded({ status }: DeepReadonly<Pod>): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

/** Gates that nobody else opens: after an update in place, and on pods that no hook holds back (DSP-121, 823). */
function gatesToOpen(pod: DeepReadonly<Pod>): Gated[] {
  const { metadata, spec } = pod;
  const gates = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
  const open = gates.filter((gate) => {
    if (gate === IN_PLACE_READY) return conditionOf(pod, gate)?.status !== "True" && isUpdateComplete(pod);
    return gate === KRUISE_POD_READY && conditionOf(pod, gate) === undefined;
  });
  return open.length === 0 ? [] : [{ name: metadata.name ?? "", uid: metadata.uid ?? "", gates: open }];
}

function conditionOf({ status }: DeepReadonly<Pod>, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

function settleTime({ memory, settleMs, now }: ObserveOptions, node: string): number {
  const changed = memory.matchChanged.get(node);
  if (changed === undefined) return 0;
  const left = changed + settleMs - now;
  if (left <= 0) memory.matchChanged.delete(node);
  return Math.max(0, left);
}

function podFacts(
  pod: DeepReadonly<Pod>,
  node: string,
  match: PatchMatch | undefined,
  settling: boolean,
  options: Observing,
): PodFacts {
  const { metadata, spec, status } = pod;
  const created = Date.parse(metadata.creationTimestamp ?? "") || 0;
  const ready = conditionOf(pod, "Ready");
  const inPlaceGate = spec?.readinessGates?.some(({ conditionType }) => conditionType === IN_PLACE_READY);
  const patched = settling || !options.patchesEnabled || combinedHashOf(pod) === (match?.combinedHash ?? "");
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    node,
    scheduled: Boolean(spec?.nodeName),
    created,
    phase: status?.phase ?? "",
    readySince: ready?.status === "True" ? readySince(pod, ready, created, options) : undefined,
    current: patched && hasTemplate(pod, options),
    preparingDelete: metadata.labels?.[LIFECYCLE_STATE] === PREPARING_DELETE,
    hooked: options.memory.compiled.preDelete?.holds(pod) === true,
    updating: inPlaceGate === true && conditionOf(pod, IN_PLACE_READY)?.status === "False",
    revision: metadata.labels?.[REVISION_LABEL] ?? "",
    patchesApplied: metadata.annotations?.[PATCHES_APPLIED] ?? "",
    inPlaceGate: inPlaceGate === true,
  };
}

/**
 * Since when a pod is ready. The clocks of nodes differ: none was ready before it was made, and a time in the future
 * counts from when it was seen first.
 */
function readySince(
  { metadata }: DeepReadonly<Pod>,
  { lastTransitionTime = "" }: { readonly lastTransitionTime?: string },
  created: number,
  { memory, aheadBefore, now }: Observing,
): number {
  const told = Math.max(Date.parse(lastTransitionTime) || 0, created);
  if (told <= now) return told;
  const id = `${metadata.uid} ${lastTransitionTime}`;
  const seen = aheadBefore.get(id) ?? now;
  memory.readyAhead.set(id, seen);
  return seen;
}

function hasTemplate({ metadata }: DeepReadonly<Pod>, { daemonSet, revisions }: ObserveOptions): boolean {
  if (revisions.has(metadata.labels?.[REVISION_LABEL] ?? "")) return true;
  const generation = templateGeneration(daemonSet.metadata.annotations);
  return generation !== undefined && metadata.labels?.[TEMPLATE_GENERATION] === generation;
}

function combinedHashOf({ metadata }: DeepReadonly<Pod>): string {
  return metadata.annotations?.[COMBINED_HASH] ?? "";
}

/** Whether a change of a node can matter to a DaemonSet: where it may run, which patches match, which nodes roll. */
export function nodeMatters(
  compiled: Compiled,
  before: NodeFacts,
  after: NodeFacts,
): "patches" | "other" | undefined {
  if (sameJson(before.labels, after.labels) && sameJson(before.taints, after.taints)) return undefined;
  const [was, is] = [before, after].map((node) => compiled.eligibilityOf(node)) as [
    ReturnType<Compiled["eligibilityOf"]>,
    ReturnType<Compiled["eligibilityOf"]>,
  ];
  if (compiled.matchOf(before.labels).combinedHash !== compiled.matchOf(after.labels).combinedHash)
    return "patches";
  const moved = was.shouldRun !== is.shouldRun || was.shouldContinue !== is.shouldContinue;
  const rolls = compiled.selectsNode(before.labels) !== compiled.selectsNode(after.labels);
  return moved || rolls ? "other" : undefined;
}
