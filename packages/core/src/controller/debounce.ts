/** Collects changes in a row, so that they make one reconcile. */
import type { Clock } from "../clock.ts";
import type { Debounce } from "./types.ts";

export interface Debouncer {
  /** Notes news of a key; returns the milliseconds after which they may be acted on. */
  note(key: string, debounce: Debounce): number;
  /** Milliseconds until the news of a key may be acted on; 0 when there is none. */
  left(key: string): number;
  forget(key: string): void;
}

export function createDebouncer(clock: Clock): Debouncer {
  const news = new Map<string, { since: number; due: number }>();
  return {
    note(key, { ms, maxMs }) {
      const now = clock.monotonic();
      const since = news.get(key)?.since ?? now;
      const due = Math.min(now + ms, since + maxMs);
      news.set(key, { since, due });
      return Math.max(0, due - now);
    },
    left(key) {
      const left = (news.get(key)?.due ?? 0) - clock.monotonic();
      if (left > 0) return left;
      news.delete(key);
      return 0;
    },
    forget: (key) => void news.delete(key),
  };
}
