/** The list `status.event`: what the last passes came to. */
import type { DeepReadonly } from "@quartet/core";
import type { Nacos } from "../api.gen.ts";
import { EVENT_CODES } from "./outcome.ts";

export type StatusEvent = NonNullable<NonNullable<Nacos["status"]>["event"]>[number];

/** Entries that are kept. */
const MAX_EVENTS = 10;

/**
 * The list with the outcome of a pass. The same outcome again changes nothing; the same code with another message
 * changes the last entry; another code is appended.
 * @param now RFC 3339
 */
export function recordEvent(
  previous: readonly DeepReadonly<StatusEvent>[],
  code: number,
  message: string,
  now: string,
): StatusEvent[] {
  const list = previous.map((event) => ({ ...event }));
  const last = list.at(-1);
  const entry = { status: code === EVENT_CODES.ok, code, message };
  if (last !== undefined && last.code === code) {
    if (last.message === message && last.status === entry.status) return list.slice(-MAX_EVENTS);
    list[list.length - 1] = { ...last, ...entry, lastTransitionTime: now };
    return list.slice(-MAX_EVENTS);
  }
  list.push({ ...entry, firstAppearTime: now, lastTransitionTime: now });
  return list.slice(-MAX_EVENTS);
}
