/** Which pods of OpenKruise do not have their node's patches, and which of them may go now (DSP-913 to 922). */
import type { DeepReadonly } from "@quartet/core";
import type { Node, Pod } from "@quartet/core/kinds";
import type { JsonMap } from "@quartet/strategic-merge";
import { effectiveTemplate } from "../desired/effective-template.ts";
import { compileEligibility } from "../desired/eligibility.ts";
import { COMBINED_HASH, LIFECYCLE_STATE, PREPARING_DELETE, REVISION_LABEL } from "../desired/keys.ts";
import type { NodePlan } from "../desired/manage.ts";
import type { PodFacts } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";
import { pinnedNode } from "../desired/pod.ts";
import { budgetOf, planRolling } from "../desired/rolling.ts";
import { compileSelector } from "../desired/selector.ts";
import { minReadyMsOf, strategyOf } from "../desired/strategy.ts";
import type { DaemonSet } from "../kinds.ts";
import { nodeFacts } from "../reconcile/observe.ts";
import { hasOtherImages } from "./patched-pod.ts";
import type { CompanionPatches } from "./patches.ts";

export interface DriftRequest {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly nodes: readonly DeepReadonly<Node>[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly patches: CompanionPatches;
  /** True for a node whose labels have changed what it gets a short while ago. */
  readonly isSettling: (node: string) => boolean;
  /** True where a pod has come back without these patches a short while ago. */
  readonly isHeld: (node: string, hash: string) => boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface Drift {
  /** Nodes whose pod lacks its patches and is not replaced yet, since the one before it lacked them too. */
  readonly held: readonly string[];
  /** Pods without their patches, on nodes whose labels have settled. */
  readonly drifted: number;
  /** Pods to replace now, within the budget. */
  readonly replace: readonly DeepReadonly<Pod>[];
  /** Why none is replaced although some should be; `undefined` when nothing is in the way. */
  readonly waits: "rollout" | "surge" | undefined;
}

/** Patches are repaired as a rolling update would, and only while OpenKruise has none of its own under way. */
export function findDrift(request: DriftRequest): Drift {
  const { daemonSet, nodes, pods, now } = request;
  const { spec, status, metadata } = daemonSet as DaemonSet;
  const byNode = Map.groupBy(pods, (pod) => pinnedNode(pod.spec as Pod["spec"]) ?? "");
  const eligible = compileEligibility(spec.template);
  const revision = status?.updateRevision ?? "";
  let drifted = 0;
  const held: string[] = [];
  let isRolling = (status?.observedGeneration ?? 0) !== (metadata.generation ?? 0);
  const byName = new Map<string, DeepReadonly<Pod>>();
  const plans = nodes.map((node): NodePlan => {
    const facts = nodeFacts(node);
    const eligibility = eligible(facts);
    const match = request.patches.patchSet.match(request.patches.patchSet.maskOf(facts.labels));
    const own = byNode.get(facts.name) ?? [];
    const live = own.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const settling = request.isSettling(facts.name);
    const podFacts = live.map((pod): PodFacts => {
      byName.set(pod.metadata.name ?? "", pod);
      const isOld = pod.metadata.labels?.[REVISION_LABEL] !== revision;
      if (isOld && eligibility.shouldRun) isRolling = true;
      const lacks = !isOld && !settling && !hasPatches(pod as Pod, match, spec.template as JsonMap);
      if (lacks && eligibility.shouldRun) drifted += 1;
      const isHeld = lacks && request.isHeld(facts.name, match.combinedHash);
      if (isHeld) held.push(facts.name);
      const current = !lacks || isHeld;
      return factsOf(pod, facts.name, current, now);
    });
    if (live.length === 0 && eligibility.shouldRun) isRolling = isRolling || own.length === 0;
    return { name: facts.name, eligibility, pods: podFacts };
  });
  const strategy = strategyOf(spec);
  if (drifted === 0 || !strategy.rolls) return { held, drifted, replace: [], waits: undefined };
  if (isRolling) return { held, drifted, replace: [], waits: "rollout" };
  const desired = plans.filter(({ eligibility }) => eligibility?.shouldRun).length;
  if (budgetOf(strategy, desired).surge > 0) return { held, drifted, replace: [], waits: "surge" };
  const selector = spec.updateStrategy?.rollingUpdate?.selector;
  const selects = selector === undefined ? () => true : (compileSelector(selector) ?? (() => false));
  const labels = new Map(nodes.map(({ metadata: { name = "", labels: own = {} } }) => [name, own]));
  const { replace } = planRolling(plans, {
    ...strategy,
    isSelected: (node) => selects(labels.get(node) ?? {}),
    minReadyMs: minReadyMsOf(spec),
    now,
  });
  return { held, drifted, replace: replace.map(({ name }) => byName.get(name)!), waits: undefined };
}

function hasPatches(pod: Pod, match: PatchMatch, template: JsonMap): boolean {
  const isMarked = (pod.metadata.annotations?.[COMBINED_HASH] ?? "") === match.combinedHash;
  if (match.patches.length === 0) return isMarked;
  try {
    const { spec = {} } = effectiveTemplate(template, match).template;
    // An update in place writes the template's image and leaves the annotation.
    return isMarked && !hasOtherImages(pod, spec, match.patches);
  } catch {
    // What cannot be applied would be missing in the next pod as well (DSP-907).
    return true;
  }
}

function factsOf(pod: DeepReadonly<Pod>, node: string, current: boolean, now: number): PodFacts {
  const { metadata, spec, status } = pod;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    node,
    scheduled: Boolean(spec?.nodeName),
    created: Date.parse(metadata.creationTimestamp ?? "") || 0,
    phase: status?.phase ?? "",
    readySince:
      ready?.status === "True" ? Math.min(Date.parse(ready.lastTransitionTime ?? "") || 0, now) : undefined,
    current,
    preparingDelete: metadata.labels?.[LIFECYCLE_STATE] === PREPARING_DELETE,
  };
}
