/** What a DaemonSet makes of a node, without a cluster: the effective template and which patch set what. */
import { itemPath, memberPath, strategicMerge } from "@quartet/strategic-merge";
import { reviewPatches } from "./admission/patches.ts";
import type { Labels, PodTemplate } from "./api.ts";
import { canonicalJson } from "./desired/canonical.ts";
import { effectiveTemplate } from "./desired/effective-template.ts";
import { compilePatches } from "./desired/patch-set.ts";
import { patchSource } from "./desired/patch-source.ts";
import { isMap } from "./json.ts";
import type { DaemonSet } from "./kinds.ts";

export interface Preview {
  readonly template: PodTemplate;
  /** Matching patches in the order in which they are applied, with what each of them changed. */
  readonly applied: readonly AppliedPatch[];
  /** Indexes of the patches that the labels do not select. */
  readonly skipped: readonly number[];
  readonly warnings: readonly string[];
}

export interface AppliedPatch {
  readonly index: number;
  readonly priority: number;
  readonly changes: readonly Change[];
}

/** A value that a patch set, changed or removed; absent means that there was, or is, none. */
export interface Change {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * The template of a node with these labels. Patches come from `spec.patches`, or from the annotation where there are none.
 * @throws Error that names what is wrong with the object or its patches
 */
export function previewNode(daemonSet: DaemonSet, labels: Labels): Preview {
  const { template, selector } = readSpec(daemonSet);
  const own = patchSource(daemonSet, "owner");
  const source =
    Array.isArray(own.patches) && own.patches.length === 0 ? patchSource(daemonSet, "companion") : own;
  if (source.problem !== undefined) throw new Error(`${source.path}: ${source.problem}`);
  const { violations, warnings } = reviewPatches({ ...source, template, selector });
  if (violations.length > 0) {
    throw new Error(violations.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  }
  const patches = source.patches as NonNullable<DaemonSet["spec"]["patches"]>;
  const patchSet = compilePatches(patches);
  const match = patchSet.match(patchSet.maskOf(labels));
  let before = template;
  const applied = match.indexes.map((index, place): AppliedPatch => {
    const after = strategicMerge("PodTemplateSpec", before, match.patches[place]!.patch);
    const changes = changesOf(before, after, "");
    before = after;
    return { index, priority: patches[index]!.priority ?? 0, changes };
  });
  return {
    template: effectiveTemplate(template, match).template,
    applied,
    skipped: patches.map((_, index) => index).filter((index) => !match.indexes.includes(index)),
    warnings,
  };
}

function readSpec(daemonSet: DaemonSet): DaemonSet["spec"] {
  const { kind, spec } = (isMap(daemonSet) ? daemonSet : {}) as Partial<DaemonSet>;
  if (kind !== "DaemonSet")
    throw new Error(`kind: is ${JSON.stringify(kind)}; give a file with one DaemonSet`);
  if (!isMap(spec) || !isMap(spec.template))
    throw new Error("spec.template: must be an object with metadata and spec");
  return spec as unknown as DaemonSet["spec"];
}

/** Differences of two values, at the places where they begin; items of lists are matched by their names. */
function changesOf(before: unknown, after: unknown, path: string): Change[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (isMap(before) && isMap(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesOf(before[key], after[key], memberPath(path, key)),
    );
  }
  const [old, now] = [byName(before), byName(after)];
  if (old !== undefined && now !== undefined) {
    const items = [...new Set([...now.keys(), ...old.keys()])].flatMap((name) =>
      changesOf(old.get(name), now.get(name), `${path}[${name}]`),
    );
    if (items.length > 0) return items;
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => changesOf(item, after[index], itemPath(path, index)));
  }
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** The items of a list whose items all have names of their own. */
function byName(list: unknown): Map<string, unknown> | undefined {
  if (!Array.isArray(list)) return undefined;
  const named = list.flatMap((item) =>
    isMap(item) && typeof item.name === "string" ? [[item.name, item] as const] : [],
  );
  const items = new Map(named);
  return items.size === list.length ? items : undefined;
}
