/** Objects that wait for the end of another. */
import { keyToString, type ObjectKey } from "@quartet/core";
import { type Owner, ownerText } from "../desired/marker.ts";

export interface Waiters {
  /** The object waits for the owner of that name, and for no other. */
  wait(key: ObjectKey, owner: string | undefined): void;
  /** Objects that wait for the owner, whether or not its cluster is named. */
  of(owner: Owner): readonly ObjectKey[];
}

/** Holds at most one entry for each object. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, { readonly key: ObjectKey; readonly owner: string }>();
  return {
    wait(key, owner) {
      const id = keyToString(key);
      if (owner === undefined) waiting.delete(id);
      else waiting.set(id, { key, owner });
    },
    of(own) {
      const { cluster: _, ...owner } = own;
      const texts = [ownerText(owner), ownerText(own)];
      return [...waiting.values()].filter((entry) => texts.includes(entry.owner)).map(({ key }) => key);
    },
  };
}
