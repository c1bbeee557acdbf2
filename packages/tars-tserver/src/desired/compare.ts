/** Compares what is wanted with what the API server holds of a resource of ours. */
import { sameJson } from "@quartet/core";
import { isMap, type JsonMap } from "@quartet/pod-template";

/** True when they say the same: false, "", null and what is empty say no more than what is absent. */
export function sameStored(a: unknown, b: unknown): boolean {
  return sameJson(plain(a), plain(b));
}

/** The value without what makes no difference; `undefined` when nothing is left. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => plain(item) ?? null);
  if (isMap(value)) return plainMap(value);
  return value === null || value === "" || value === false ? undefined : value;
}

function plainMap(map: JsonMap): JsonMap | undefined {
  const entries = Object.entries(map)
    .map(([key, value]) => [key, plain(value)] as const)
    .filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
