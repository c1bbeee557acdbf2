/** Which pods a rolling update replaces now (DSP-801 to 816). */
import { type IntOrPercent, scaled } from "./limits.ts";
import { comparePods, isAvailable, type NodePlan } from "./manage.ts";
import type { PodFacts } from "./objects.ts";

export interface RollingSettings {
  readonly maxUnavailable: IntOrPercent;
  readonly maxSurge: IntOrPercent;
  readonly partition: IntOrPercent;
  /** Whether a node is one that `rollingUpdate.selector` selects; all are without a selector. */
  readonly isSelected: (node: string) => boolean;
  /** Milliseconds. */
  readonly minReadyMs: number;
  readonly now: number;
}

export interface RollingPlan {
  /** Stale pods to delete, or to update in place. */
  readonly replace: readonly PodFacts[];
  /** Nodes that get a second pod beside the stale one. */
  readonly surge: readonly string[];
}

/** How many pods may be missing and how many may be additional (DSP-802). */
export function budgetOf(
  { maxUnavailable, maxSurge }: Pick<RollingSettings, "maxUnavailable" | "maxSurge">,
  desired: number,
): { unavailable: number; surge: number } {
  const unavailable = scaled(maxUnavailable, desired, "up");
  const surge = scaled(maxSurge, desired, "up");
  return { unavailable: unavailable === 0 && surge === 0 && desired > 0 ? 1 : unavailable, surge };
}

/** The step of this pass. Nodes that are not eligible take no part (D25). */
export function planRolling(nodes: readonly NodePlan[], settings: RollingSettings): RollingPlan {
  const eligible = nodes.filter(({ eligibility }) => eligibility?.shouldRun).map(stateOf);
  const budget = budgetOf(settings, eligible.length);
  const considered = consideredNodes(eligible, settings).filter(({ broken }) => !broken);
  return budget.surge > 0
    ? { replace: [], surge: surgeStep(considered, budget.surge, settings) }
    : { replace: replaceStep(considered, budget.unavailable, settings), surge: [] };
}

interface NodeState {
  readonly name: string;
  readonly current: PodFacts | undefined;
  readonly stale: PodFacts | undefined;
  /** More pods than one current and one stale. */
  readonly excess: boolean;
  readonly broken: boolean;
}

function stateOf({ name, pods, broken = false }: NodePlan): NodeState {
  const live = pods.filter(({ phase }) => phase !== "Failed" && phase !== "Succeeded").sort(comparePods);
  const [current, ...moreCurrent] = live.filter((pod) => pod.current);
  const [stale, ...moreStale] = live.filter((pod) => !pod.current);
  return { name, current, stale, excess: moreCurrent.length + moreStale.length > 0, broken };
}

/** The nodes in the order of DSP-804, without those that the partition leaves on the old version. */
function consideredNodes(
  nodes: readonly NodeState[],
  { partition, isSelected }: RollingSettings,
): NodeState[] {
  const groups: [NodeState[], NodeState[], NodeState[]] = [[], [], []];
  for (const node of nodes) {
    const empty = [node.current, node.stale].every((pod) => pod === undefined || pod.preparingDelete);
    if (node.excess || (node.current !== undefined && !empty)) groups[0].push(node);
    else if (empty) groups[1].push(node);
    else if (isSelected(node.name)) groups[2].push(node);
  }
  const ordered = groups.flatMap((group) => group.sort((a, b) => (a.name < b.name ? 1 : -1)));
  return ordered.slice(0, Math.max(0, nodes.length - scaled(partition, nodes.length, "down")));
}

function replaceStep(
  considered: readonly NodeState[],
  maxUnavailable: number,
  { minReadyMs, now }: RollingSettings,
): PodFacts[] {
  let unavailable = 0;
  const unready: PodFacts[] = [];
  const ready: PodFacts[] = [];
  for (const { current, stale, excess } of considered) {
    if (current !== undefined || excess || stale === undefined || stale.preparingDelete) {
      const both = current !== undefined && stale !== undefined;
      if (excess || both || current === undefined || !isAvailable(current, minReadyMs, now)) unavailable += 1;
    } else if (stale.readySince === undefined) {
      unavailable += 1;
      unready.push(stale);
    } else {
      ready.push(stale);
    }
  }
  const isServing = (pod: PodFacts): number => Number(isAvailable(pod, minReadyMs, now));
  const candidates = ready.sort((a, b) => isServing(a) - isServing(b));
  return [...unready, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))];
}

/**
 * Nodes whose stale pod does not serve get their new one at once; others as those in flight leave room for (DSP-808). A
 * stale pod on its way out needs nothing more.
 */
function surgeStep(
  considered: readonly NodeState[],
  maxSurge: number,
  { minReadyMs, now }: RollingSettings,
): string[] {
  const isServing = (pod: PodFacts): boolean => isAvailable(pod, minReadyMs, now);
  const isGoing = ({ stale }: NodeState): boolean => stale === undefined || stale.preparingDelete;
  const waiting = considered.filter((node) => !node.excess && node.current === undefined && !isGoing(node));
  const [others = [], atOnce = []] = [true, false].map((serves) =>
    waiting.filter(({ stale }) => isServing(stale!) === serves),
  );
  const inFlight = considered.filter(
    (node) => node.excess || (node.current !== undefined && !isGoing(node) && !isServing(node.current)),
  ).length;
  return [...atOnce, ...others.slice(0, Math.max(0, maxSurge - inFlight))].map(({ name }) => name);
}

/** When the next pod becomes available, in milliseconds from now; `undefined` when none is on its way (DSP-809). */
export function nextAvailability(
  pods: readonly PodFacts[],
  { minReadyMs, now }: Pick<RollingSettings, "minReadyMs" | "now">,
): number | undefined {
  const waits = pods.flatMap(({ readySince }) => {
    const left = readySince === undefined ? 0 : readySince + minReadyMs - now;
    return left > 0 ? [left] : [];
  });
  return waits.length === 0 ? undefined : Math.min(...waits);
}
