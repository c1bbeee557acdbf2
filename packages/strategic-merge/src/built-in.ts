import { BUILT_IN_TABLE } from "./metadata.gen.ts";
import type { TypeName, TypeTable } from "./metadata.ts";
import { readTable } from "./table-text.ts";

/** The types of the Kubernetes release that this package was generated from. */
export const BUILT_IN: TypeTable = readTable(BUILT_IN_TABLE);

/**
 * Type of a kind, for `strategicMerge` and the others; the group of core kinds is `""`. Undefined for kinds that the
 * table does not hold, such as custom resources: those know no strategic merge.
 */
export function typeForKind(
  group: string,
  version: string,
  kind: string,
  table: TypeTable = BUILT_IN,
): TypeName | undefined {
  return table.kinds.get(`${group}/${version}/${kind}`);
}
