/** What is there: nodes with the DaemonSet's pods on them. */
import { CONTROLLER_INDEX, type DeepReadonly, type ReconcileContext } from "@quartet/core";
import { type Node, POD, type Pod } from "@quartet/core/kinds";
import type { Labels } from "../api.ts";
import type { Compiled } from "../desired/compiled.ts";
import { COMBINED_HASH, REVISION_LABEL } from "../desired/keys.ts";
import type { NodePlan } from "../desired/manage.ts";
import type { NodeFacts, PodFacts } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";
import { pinnedNode } from "../desired/pod.ts";
import type { DaemonSet } from "../kinds.ts";
import type { DaemonSetMemory } from "./memory.ts";

const LIFECYCLE_STATE = "lifecycle.apps.kruise.io/state";
const PREPARING_DELETE = "PreparingDelete";
const TEMPLATE_GENERATION = "pod-template-generation";
const TEMPLATE_GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";

/** A node with its pods, and the patches that its labels select. */
export interface ObservedNode extends NodePlan {
  /** `undefined` for a node that does not exist. */
  readonly match: PatchMatch | undefined;
  readonly patchIndexes: readonly number[];
  readonly labels: Labels;
  /** A pod is stale by its patches alone. */
  readonly stalePatches: boolean;
}

export interface Observation {
  readonly nodes: readonly ObservedNode[];
  /** Until the labels of a node count as settled; milliseconds, `undefined` when all do (DSP-711). */
  readonly settlesInMs: number | undefined;
}

export interface ObserveOptions {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly nodes: readonly DeepReadonly<Node>[];
  readonly memory: DaemonSetMemory;
  /** H_t. */
  readonly revision: string;
  /** False while the feature gate is off: pods are told apart by their template alone. */
  readonly patchesEnabled: boolean;
  readonly settleMs: number;
  readonly now: number;
}

export function nodeFacts({ metadata, spec }: DeepReadonly<Node>): NodeFacts {
  return {
    name: metadata.name ?? "",
    labels: metadata.labels ?? {},
    taints: (spec?.taints ?? []) as NodeFacts["taints"],
  };
}

/** Nodes in the order of their names, with those that are gone and still have pods. */
export function observe(options: ObserveOptions): Observation {
  const { compiled } = options.memory;
  const byNode = Map.groupBy(options.pods, (pod) => pinnedNode(pod.spec as Pod["spec"]) ?? "");
  let settlesInMs: number | undefined;
  const observed = (name: string, node: NodeFacts | undefined): ObservedNode => {
    const pods = byNode.get(name) ?? [];
    const match = node && compiled.matchOf(node.labels);
    const settling = settleTime(options, name);
    const facts = pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((pod) => podFacts(pod, name, match, settling > 0, options));
    if (settling > 0 && facts.length > 0) settlesInMs = Math.min(settlesInMs ?? settling, settling);
    return {
      name,
      eligibility: node && compiled.eligibilityOf(node),
      pods: facts,
      terminating: facts.length < pods.length,
      match,
      patchIndexes: match?.indexes ?? [],
      labels: node?.labels ?? {},
      stalePatches: pods.some((pod) => combinedHashOf(pod) !== (match?.combinedHash ?? "")),
    };
  };
  const existing = new Set<string>();
  const nodes = options.nodes.map((node) => {
    const facts = nodeFacts(node);
    existing.add(facts.name);
    return observed(facts.name, facts);
  });
  const gone = [...byNode.keys()]
    .filter((name) => !existing.has(name))
    .map((name) => observed(name, undefined));
  return { nodes: [...nodes, ...gone].sort((a, b) => (a.name < b.name ? -1 : 1)), settlesInMs };
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
  options: ObserveOptions,
): PodFacts {
  const { metadata, spec, status } = pod;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const patched = settling || !options.patchesEnabled || combinedHashOf(pod) === (match?.combinedHash ?? "");
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    node,
    scheduled: Boolean(spec?.nodeName),
    created: Date.parse(metadata.creationTimestamp ?? "") || 0,
    phase: status?.phase ?? "",
    // Clocks differ: a time in the future counts from now on.
    readySince:
      ready?.status === "True"
        ? Math.min(Date.parse(ready.lastTransitionTime ?? "") || 0, options.now)
        : undefined,
    current: patched && hasTemplate(pod, options),
    preparingDelete: metadata.labels?.[LIFECYCLE_STATE] === PREPARING_DELETE,
  };
}

function hasTemplate({ metadata }: DeepReadonly<Pod>, { daemonSet, revision }: ObserveOptions): boolean {
  if (metadata.labels?.[REVISION_LABEL] === revision) return true;
  const generation = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return generation !== undefined && metadata.labels?.[TEMPLATE_GENERATION] === generation;
}

function combinedHashOf({ metadata }: DeepReadonly<Pod>): string {
  return metadata.annotations?.[COMBINED_HASH] ?? "";
}

/** Pods that the DaemonSet controls, by its uid. */
export function ownPods(
  ctx: Pick<ReconcileContext, "cache">,
  { metadata }: DeepReadonly<DaemonSet>,
): readonly DeepReadonly<Pod>[] {
  return ctx.cache.byIndex(POD, CONTROLLER_INDEX, metadata.uid ?? "");
}

/** Whether a change of a node can matter to a DaemonSet: where it may run, which patches match, which nodes roll. */
export function nodeMatters(
  compiled: Compiled,
  before: NodeFacts,
  after: NodeFacts,
): "patches" | "other" | undefined {
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

/** What every reading of nodes needs of them; heartbeats and images are left out. */
export const NODE_PROJECTION = {
  name: "labels-and-taints",
  transform: ({ apiVersion, kind, metadata, spec }: Node): Node => {
    const { managedFields: _, annotations: __, ...kept } = metadata;
    return { apiVersion, kind, metadata: kept, spec: { taints: spec?.taints ?? [] } } as Node;
  },
};

/** Conditions, place and marks of pods; containers are left out. */
export const POD_PROJECTION = {
  name: "place-and-readiness",
  transform: ({ apiVersion, kind, metadata, spec, status }: Pod): Pod => {
    const { managedFields: _, ...kept } = metadata;
    const conditions = status?.conditions?.filter(({ type }) => type === "Ready");
    return {
      apiVersion,
      kind,
      metadata: kept,
      spec: { ...(spec?.nodeName && { nodeName: spec.nodeName }), affinity: spec?.affinity },
      status: { phase: status?.phase, conditions },
    } as Pod;
  },
};
