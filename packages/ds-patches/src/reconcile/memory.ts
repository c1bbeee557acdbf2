/** What is remembered of a DaemonSet between passes; all of it can be made again. */
import {
  type ChildMemory,
  createChildMemory,
  type DeepReadonly,
  type Expectations,
  keyOf,
  keyToString,
  type ObjectKey,
} from "@quartet/core";
import { type Compiled, compile } from "../desired/compiled.ts";
import { PatchError } from "../desired/effective-template.ts";
import type { PatchMask } from "../desired/patch-set.ts";
import type { DaemonSet } from "../kinds.ts";
import type { NodeView } from "./node-view.ts";

/** Pause before a pod is deleted that fails again and again on one node, in milliseconds (upstream). */
const FAILED_POD_FIRST_MS = 1_000;
const FAILED_POD_MAX_MS = 15 * 60_000;

export interface DaemonSetMemory {
  readonly uid: string;
  compiled: Compiled;
  /** When the patches that match a node changed by its labels; milliseconds since the Unix epoch. */
  readonly matchChanged: Map<string, number>;
  /** When pods were seen ready first whose node says a time in the future; milliseconds since the Unix epoch. */
  readonly readyAhead: Map<string, number>;
  /** Deletions of failed pods by node. */
  readonly failures: Map<string, { at: number; pauseMs: number }>;
  /** Templates of the present generation that were looked at. */
  readonly templates: Map<PatchMask, TemplateCheck>;
  /** When counters were last written into the status; milliseconds of a clock that only goes forward. */
  statusWritten: number | undefined;
  /** Nodes that the last pass looked at. */
  nodes: number;
  /** No pass begins earlier; milliseconds of a clock that only goes forward. */
  restsUntil: number;
  /** Value of the annotation whose rollback the server refused. */
  failedRollback: string | undefined;
  /** Pods that are to come or to go, of all DaemonSets. */
  readonly expectations: Expectations;
  /** What the present generation makes of nodes, by the objects of the cache. */
  nodeViews: WeakMap<object, NodeView>;
  /** Canonical texts of templates, by the data of the revisions that hold them. */
  readonly revisionTexts: WeakMap<object, string>;
  /** What was refused, and which items of batches were. */
  readonly children: ChildMemory;
  readonly refusedItems: Set<string>;
}

/** Whether the template of a set of patches can be made. */
interface TemplateCheck {
  readonly problem: PatchError | undefined;
  /** How long it took to make it, milliseconds; `undefined` once that is counted. */
  ms: number | undefined;
  /** The problem was told of. */
  told: boolean;
}

export interface MemoryStore {
  /** The memory of a DaemonSet, made ready for its present generation. */
  of(daemonSet: DeepReadonly<DaemonSet>): DaemonSetMemory;
  all(): IterableIterator<[key: ObjectKey, memory: DaemonSetMemory]>;
  forget(key: ObjectKey): void;
}

/** Under which key a DaemonSet's expectations stand: another one of its name has its own, and no other namespace lowers them. */
export function expectationKey({ metadata }: Identified): string {
  return `${metadata.namespace}/${metadata.uid}`;
}

interface Identified {
  readonly metadata: { readonly namespace?: string | undefined; readonly uid?: string | undefined };
}

/** @param enabled the feature gate of patches */
export function createMemoryStore(enabled: boolean, expectations: Expectations): MemoryStore {
  const memories = new Map<string, { key: ObjectKey; memory: DaemonSetMemory }>();
  const dropExpectations = ({ namespace }: ObjectKey, uid: string): void =>
    expectations.forget(expectationKey({ metadata: { namespace, uid } }));
  return {
    of(daemonSet) {
      const { uid = "", generation = 0 } = daemonSet.metadata;
      const key = keyOf(daemonSet);
      const found = memories.get(keyToString(key))?.memory;
      if (found?.uid === uid) {
        if (found.compiled.generation !== generation) {
          found.compiled = compile(daemonSet, enabled);
          found.failures.clear();
          found.readyAhead.clear();
          found.templates.clear();
          found.nodeViews = new WeakMap();
        }
        return found;
      }
      // Another one had the name.
      if (found !== undefined) dropExpectations(key, found.uid);
      const memory: DaemonSetMemory = {
        uid,
        compiled: compile(daemonSet, enabled),
        matchChanged: new Map(),
        readyAhead: new Map(),
        failures: new Map(),
        templates: new Map(),
        statusWritten: undefined,
        nodes: 0,
        restsUntil: 0,
        failedRollback: undefined,
        expectations,
        nodeViews: new WeakMap(),
        revisionTexts: new WeakMap(),
        children: createChildMemory(),
        refusedItems: new Set(),
      };
      memories.set(keyToString(key), { key, memory });
      return memory;
    },
    *all() {
      for (const { key, memory } of memories.values()) yield [key, memory];
    },
    forget(key) {
      const id = keyToString(key);
      dropExpectations(key, memories.get(id)?.memory.uid ?? "");
      memories.delete(id);
    },
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

/** Whether a template can be made; looked at once in a generation. `monotonic` in milliseconds. */
export function checkTemplate(
  { compiled, templates }: DaemonSetMemory,
  mask: PatchMask,
  monotonic: () => number,
): TemplateCheck {
  const known = templates.get(mask);
  if (known !== undefined) return known;
  const start = monotonic();
  let problem: PatchError | undefined;
  try {
    compiled.templateOf(mask);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    problem = error;
  }
  const check = { problem, ms: monotonic() - start, told: false };
  templates.set(mask, check);
  return check;
}

/** How long it took to make a template, for the first pod that has it; `undefined` for the others. */
export function takeMiss({ templates }: DaemonSetMemory, mask: PatchMask): number | undefined {
  const check = templates.get(mask);
  const ms = check?.ms;
  if (check !== undefined) check.ms = undefined;
  return ms;
}
