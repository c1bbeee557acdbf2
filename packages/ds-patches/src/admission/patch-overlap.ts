/** Patches of one priority that set the same leaf to different values (DSP-369). */
import type { LabelSelector, NodePatch } from "../api.ts";
import { canonicalJson } from "../desired/canonical.ts";
import { isMap } from "../json.ts";

/** Keys that tell the items of a list apart. */
const ITEM_KEYS = ["name", "mountPath", "containerPort", "devicePath", "ip", "topologyKey"];

/** One text for each pair of patches and leaf; only those that may meet on a node. */
export function overlapWarnings(patches: readonly NodePatch[]): string[] {
  const leaves = patches.map(({ patch }) => leavesOf(patch));
  return patches.flatMap((first, i) =>
    patches.flatMap((second, j) => {
      if (j <= i || (first.priority ?? 0) !== (second.priority ?? 0)) return [];
      if (areDisjoint(first.selector, second.selector)) return [];
      const shared = [...leaves[i]!].find(([path, value]) => {
        const other = leaves[j]!.get(path);
        return other !== undefined && other !== value;
      });
      if (shared === undefined) return [];
      return [
        `items ${i} and ${j} of one priority set ${shared[0]} to different values; on a node that both select, item ${j} wins`,
      ];
    }),
  );
}

/** Path of each scalar of a patch, with its canonical text. */
function leavesOf(patch: unknown): Map<string, string> {
  const leaves = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (isMap(value)) {
      for (const [key, member] of Object.entries(value)) visit(member, path === "" ? key : `${path}.${key}`);
    } else if (Array.isArray(value) && value.every(isMap)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${itemName(item) ?? index}]`);
    } else {
      leaves.set(path, canonicalJson(value));
    }
  };
  visit(patch, "");
  return leaves;
}

function itemName(item: Record<string, unknown>): string | undefined {
  const key = ITEM_KEYS.find((name) => item[name] !== undefined);
  return key === undefined ? undefined : String(item[key]);
}

/** True when the two ask for different values of one label, so that no node can match both. */
function areDisjoint(a: LabelSelector | null | undefined, b: LabelSelector | null | undefined): boolean {
  const [first, second] = [requiredValues(a), requiredValues(b)];
  return [...first].some(([key, values]) => {
    const others = second.get(key);
    return others !== undefined && !values.some((value) => others.includes(value));
  });
}

function requiredValues(selector: LabelSelector | null | undefined): Map<string, readonly string[]> {
  const values = new Map<string, readonly string[]>(
    Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => [key, [value]]),
  );
  for (const { key, operator, values: listed = [] } of selector?.matchExpressions ?? []) {
    if (operator === "In") values.set(key, listed);
  }
  return values;
}
