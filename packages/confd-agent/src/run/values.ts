/** Values of a backend, and as templates see them. */
import { textOf } from "@quartet/go-template";
import { cleanPath } from "../functions/paths.ts";
import type { Resource } from "../resource/resource.ts";

export function sameValues(
  a: ReadonlyMap<string, string> | undefined,
  b: ReadonlyMap<string, string>,
): boolean {
  if (a === undefined || a.size !== b.size) return false;
  for (const [key, value] of b) if (a.get(key) !== value) return false;
  return true;
}

/** Keys as the template sees them: cleaned, without the prefix. */
export function storeValues(
  { prefix }: Resource,
  values: ReadonlyMap<string, string>,
  warn: (message: string) => void,
): Map<string, string> {
  const store = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const raw of [...values.keys()].sort()) {
    const clean = cleanPath(`/${raw}`);
    const below = prefix === "/" ? clean : clean === prefix ? "/" : clean.slice(prefix.length);
    const other = origins.get(below);
    if (other !== undefined) {
      const taken = other === cleanPath(`/${other}`) ? other : raw;
      warn(
        `keys ${textOf(other)} and ${textOf(raw)} are the same for the template: ${textOf(taken)} is taken`,
      );
      if (taken === other) continue;
    }
    origins.set(below, raw);
    store.set(below, values.get(raw)!);
  }
  return store;
}
