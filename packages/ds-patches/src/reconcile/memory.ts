/** What is remembered of a DaemonSet between passes; all of it can be made again. */
import { type DeepReadonly, keyOf, keyToString, type ObjectKey } from "@quartet/core";
import { type Compiled, compile } from "../desired/compiled.ts";
import type { DaemonSet } from "../kinds.ts";

/** Pause before a pod is deleted that fails again and again on one node, in milliseconds (upstream). */
const FAILED_POD_FIRST_MS = 1_000;
const FAILED_POD_MAX_MS = 15 * 60_000;

export interface DaemonSetMemory {
  readonly uid: string;
  compiled: Compiled;
  /** When the patches that match a node changed by its labels; milliseconds since the Unix epoch. */
  readonly matchChanged: Map<string, number>;
  /** Deletions of failed pods by node. */
  readonly failures: Map<string, { at: number; pauseMs: number }>;
}

export interface MemoryStore {
  /** The memory of a DaemonSet, made ready for its present generation. */
  of(daemonSet: DeepReadonly<DaemonSet>): DaemonSetMemory;
  all(): IterableIterator<[key: ObjectKey, memory: DaemonSetMemory]>;
  forget(key: ObjectKey): void;
}

/** @param enabled the feature gate of patches */
export function createMemoryStore(enabled: boolean): MemoryStore {
  const memories = new Map<string, { key: ObjectKey; memory: DaemonSetMemory }>();
  return {
    of(daemonSet) {
      const { uid = "", generation = 0 } = daemonSet.metadata;
      const key = keyOf(daemonSet);
      const found = memories.get(keyToString(key))?.memory;
      if (found?.uid === uid) {
        if (found.compiled.generation !== generation) {
          found.compiled = compile(daemonSet, enabled);
          found.failures.clear();
        }
        return found;
      }
      const memory: DaemonSetMemory = {
        uid,
        compiled: compile(daemonSet, enabled),
        matchChanged: new Map(),
        failures: new Map(),
      };
      memories.set(keyToString(key), { key, memory });
      return memory;
    },
    *all() {
      for (const { key, memory } of memories.values()) yield [key, memory];
    },
    forget: (key) => void memories.delete(keyToString(key)),
  };
}

/**
 * How long a failed pod on a node must still wait for its deletion, in milliseconds; 0 notes the deletion and doubles
 * the next pause (DSP-727).
 */
export function failurePause({ failures }: DaemonSetMemory, node: string, now: number): number {
  const last = failures.get(node);
  const isQuiet = last !== undefined && now - last.at > 2 * FAILED_POD_MAX_MS;
  if (last === undefined || isQuiet) {
    failures.set(node, { at: now, pauseMs: FAILED_POD_FIRST_MS });
    return 0;
  }
  const left = last.at + last.pauseMs - now;
  if (left > 0) return left;
  failures.set(node, { at: now, pauseMs: Math.min(FAILED_POD_MAX_MS, last.pauseMs * 2) });
  return 0;
}
