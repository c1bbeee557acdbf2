/** What of a remote object is to be changed. */
import { isMap, sorted } from "./document.ts";

/** Members of the wanted object that the remote one has otherwise, or nothing. */
export function changesOf(remote: object, wanted: object): Record<string, unknown> | undefined {
  const held = remote as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted).filter(([field, value]) => !isHeld(held[field], value));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Whether everything wanted is there; what a server adds to maps does not count, and nothing and empty are the same. */
export function isHeld(there: unknown, wanted: unknown): boolean {
  if (isNothing(wanted)) return isNothing(there);
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(there) &&
      there.length === wanted.length &&
      wanted.every((item, index) => isHeld(there[index], item))
    );
  }
  if (!isMap(wanted)) return JSON.stringify(sorted(there)) === JSON.stringify(wanted);
  return isMap(there) && Object.entries(wanted).every(([key, value]) => isHeld(there[key], value));
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/** Whether both are the same, nothing and empty counting as one. */
export function isSame(a: unknown, b: unknown): boolean {
  if (!isMap(a) || !isMap(b)) return Array.isArray(a) && Array.isArray(b) ? sameLists(a, b) : isHeld(a, b);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(a[key], b[key]));
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
}
