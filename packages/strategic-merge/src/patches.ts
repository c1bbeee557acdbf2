import { BUILT_IN } from "./built-in.ts";
import { combinePatches } from "./combine.ts";
import { diffMaps } from "./diff.ts";
import type { DiffScope } from "./diff-scope.ts";
import { deepCopy, type JsonMap } from "./json.ts";
import type { Place, TypeName, TypeTable } from "./metadata.ts";
import { asObject } from "./object.ts";

const EVERYTHING: DiffScope = { changes: true, deletions: true };
const CHANGES: DiffScope = { changes: true, deletions: false };
const DELETIONS: DiffScope = { changes: false, deletions: true };

/**
 * A strategic merge patch that leads from `original` to `modified`: empty when they are equal. Applied to another value
 * of the type it carries the difference over. Throws a StrategicMergeError when a list that is merged by key holds an
 * item without it, or when the schema does not say how to merge something that changed.
 */
export function createTwoWayPatch(
  type: TypeName,
  original: unknown,
  modified: unknown,
  table: TypeTable = BUILT_IN,
): JsonMap {
  const [before, after] = [asObject(original, type, table), asObject(modified, type, table)];
  return deepCopy(diffMaps({ table, type, path: "" }, before, after, EVERYTHING, false)) as JsonMap;
}

/** The three versions that a three-way patch reads. */
export interface ThreeVersions<T = unknown> {
  /** As it was wanted last. */
  original: unknown;
  /** As it is wanted now. */
  modified: unknown;
  /** As it stands, with what others made of it. */
  current: T;
}

/**
 * The patch that `kubectl apply` would send for `current`: it sets everything that `modified` holds, and removes what
 * `original` held and `modified` no longer does. What only `current` holds stays. Errors as `createTwoWayPatch`.
 */
export function createThreeWayPatch(
  type: TypeName,
  { original, modified, current }: ThreeVersions,
  table: TypeTable = BUILT_IN,
): JsonMap {
  const [before, after, live] = [original, modified, current].map((value) => asObject(value, type, table));
  const root: Place = { table, type, path: "" };
  const changes = diffMaps(root, live!, after!, CHANGES, false);
  const deletions = diffMaps(root, before!, after!, DELETIONS, false);
  return deepCopy(combinePatches(root, deletions, changes)) as JsonMap;
}
