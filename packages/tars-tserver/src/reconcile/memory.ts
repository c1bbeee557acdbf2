/** What is remembered of each server between passes; nothing of it is needed to be right. */
import type { ExitedPod } from "../desired/exited-record.ts";

/** A state that waits to be written: as text, when it was first seen, when it last changed, ms. */
interface Pending {
  readonly text: string;
  readonly since: number;
  readonly changed: number;
}

/** What is remembered of one server. */
export interface Memory {
  /** What waits to be written. */
  readonly pending: { endpoint: Pending | undefined; server: Pending | undefined };
  /** Pods that went before they were recorded, in the order in which they went. */
  readonly gone: Map<string, ExitedPod>;
  /** UIDs of pods that were routed to in the last pass; `undefined` before the first. */
  active: ReadonlySet<string> | undefined;
  /** When it was last told that nobody sets the readiness gate, ms of the monotonic clock. */
  gateReported: number | undefined;
  /** UID of the server when the API server said that its namespace goes: nothing can be made there any more. */
  endsWithNamespace: string | undefined;
  /** The StatefulSet that the API server said it would take, as text, and when, ms of the monotonic clock. */
  triedOut: { readonly text: string; readonly at: number } | undefined;
  /** What was told in events, so that it is not told in each pass. */
  readonly told: Set<string>;
}

/** Pods that are kept for recording while that fails. Source: the record's own limit of 150 entries. */
const MAX_GONE = 150;

/** Memories by server. */
export interface Memories {
  of(key: string): Memory;
  /** A pod of the server went without having been recorded. */
  addGone(key: string, pod: ExitedPod): void;
  forget(key: string): void;
}

export function createMemories(): Memories {
  const memories = new Map<string, Memory>();
  const of = (key: string): Memory => {
    const known = memories.get(key);
    if (known !== undefined) return known;
    const memory: Memory = {
      pending: { endpoint: undefined, server: undefined },
      gone: new Map(),
      active: undefined,
      gateReported: undefined,
      endsWithNamespace: undefined,
      triedOut: undefined,
      told: new Set(),
    };
    memories.set(key, memory);
    return memory;
  };
  return {
    of,
    addGone(key, pod) {
      const { gone } = of(key);
      gone.set(pod.uid ?? "", pod);
      for (const uid of gone.keys()) {
        if (gone.size <= MAX_GONE) break;
        gone.delete(uid);
      }
    },
    forget: (key) => void memories.delete(key),
  };
}
