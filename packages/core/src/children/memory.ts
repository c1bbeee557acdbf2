/** What is remembered of an owner's children between passes. Losing it, in a restart, costs a few requests. */
import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { DeepReadonly, KubeObject } from "../object.ts";
import type { Problem } from "./problem.ts";

/** Wait after the first refusal, and the longest, in milliseconds; it doubles while the same is refused. */
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

interface Refusal {
  /** What was refused, and in which form. */
  readonly fingerprint: string;
  readonly problem: Problem;
  readonly times: number;
  /** By the monotonic clock. */
  readonly dueAt: number;
}

/** Memory of one owner's children. */
export interface ChildMemory {
  /** Children, as `plural/name`, whose names are taken by objects outside the cache. */
  readonly taken: Set<string>;
  /** By child: the update that the server took without any change. */
  readonly settled: Map<string, string>;
  /** By verb and child: what was refused. */
  readonly refused: Map<string, Refusal>;
}

export function createChildMemory(): ChildMemory {
  return { taken: new Set(), settled: new Map(), refused: new Map() };
}

/** A write that was refused in the same form and is not due yet: its problem, with the time that is left. */
export function standingRefusal(
  { refused }: ChildMemory,
  id: string,
  fingerprint: string,
  clock: Clock,
): Problem | undefined {
  const last = refused.get(id);
  if (last?.fingerprint !== fingerprint) return undefined;
  const left = last.dueAt - clock.monotonic();
  return left > 0 ? { ...last.problem, retryAfterMs: left } : undefined;
}

/** Notes a refusal; the problem with the wait until the next try. */
export function noteRefusal(
  { refused }: ChildMemory,
  id: string,
  fingerprint: string,
  problem: Problem,
  clock: Clock,
): Problem {
  const last = refused.get(id);
  const times = last?.fingerprint === fingerprint ? last.times + 1 : 0;
  const retryAfterMs = Math.min(FIRST_RETRY_MS * 2 ** times, MAX_RETRY_MS);
  refused.set(id, { fingerprint, problem, times, dueAt: clock.monotonic() + retryAfterMs });
  return { ...problem, retryAfterMs };
}

/** Fingerprint of what is asked for, and of the object that it is asked of; of no secret can it be told back. */
export function fingerprintOf(wanted: unknown, live?: DeepReadonly<KubeObject>): string {
  return createHash("sha256")
    .update(JSON.stringify([content(live), content(wanted)]))
    .digest("base64");
}

/** An object without what the server changes by itself. */
function content(object: unknown): unknown {
  if (typeof object !== "object" || object === null || !("metadata" in object)) return object;
  const { metadata, status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const { uid, labels, annotations, ownerReferences, finalizers } = metadata;
  return [uid, labels, annotations, ownerReferences, finalizers, rest];
}
