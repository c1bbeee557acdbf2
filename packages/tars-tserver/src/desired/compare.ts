/** Compares what is wanted with what the API server holds, which fills in defaults and respells quantities. */
import { sameJson } from "@quartet/core";
import type { JsonMap } from "./k8s.ts";
import { canonicalQuantity } from "./quantity.ts";

/** Members whose values are quantities, or maps of quantities. */
const QUANTITIES: ReadonlySet<string> = new Set(["limits", "requests", "sizeLimit", "divisor"]);
/** Octal 0644, which the server fills in for files of volumes. */
const FILE_MODE = 420;
/** Members that are true when they are absent. */
const TRUE_WHEN_ABSENT: ReadonlySet<string> = new Set(["enableServiceLinks"]);

/** True when the server would store both alike: its defaults, empty values and spellings of quantities do not count. */
export function sameStored(a: unknown, b: unknown): boolean {
  return sameJson(plain(a, ""), plain(b, ""));
}

/** The value without what makes no difference; `undefined` when nothing is left. */
function plain(value: unknown, member: string): unknown {
  if (QUANTITIES.has(member)) return plainQuantities(value);
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => plain(item, "") ?? null);
  if (isMap(value)) return plainMap(value, member);
  if (value === null || value === "") return undefined;
  if (value === false && !TRUE_WHEN_ABSENT.has(member)) return undefined;
  return value;
}

function plainMap(map: JsonMap, member: string): JsonMap | undefined {
  const result: JsonMap = {};
  for (const [key, value] of Object.entries(map)) {
    if (key === "defaultMode" && value === FILE_MODE) continue;
    if (member === "fieldRef" && key === "apiVersion" && value === "v1") continue;
    const kept = plain(value, key);
    if (kept !== undefined) result[key] = kept;
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

function plainQuantities(value: unknown): unknown {
  if (!isMap(value)) return canonicalQuantity(value);
  const entries = Object.entries(value).map(([name, amount]) => [name, canonicalQuantity(amount)]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
