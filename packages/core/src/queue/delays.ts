/** Delayed adds of a queue: one timer, set to the earliest of them. */
import type { Clock } from "../clock.ts";
import { type Entry, entryHeap } from "./entry.ts";

export interface Delays {
  /** Makes an entry due at a monotonic time; the earlier of two times counts. */
  set(entry: Entry, at: number): void;
  cancel(entry: Entry): void;
  /** Nothing is released any more. */
  stop(): void;
}

/** @param onDue called with each entry whose time has come, and with that time */
export function createDelays(clock: Clock, onDue: (entry: Entry, at: number) => void): Delays {
  const due = entryHeap("byDue", (a, b) => a.dueAt! - b.dueAt! || a.sequence - b.sequence);
  let timer: { at: number; cancel: () => void } | undefined;
  let sequence = 0;
  let stopped = false;

  const cancel = (entry: Entry): void => {
    due.remove(entry);
    entry.dueAt = undefined;
  };
  const schedule = (): void => {
    const next = due.peek()?.dueAt;
    if (timer?.at === next) return;
    timer?.cancel();
    timer = undefined;
    if (next === undefined || stopped) return;
    timer = { at: next, cancel: clock.setTimer(Math.max(0, next - clock.monotonic()), release) };
  };
  const release = (): void => {
    timer = undefined;
    const now = clock.monotonic();
    for (let entry = due.peek(); entry !== undefined && entry.dueAt! <= now; entry = due.peek()) {
      const at = entry.dueAt!;
      cancel(entry);
      onDue(entry, at);
    }
    schedule();
  };

  return {
    set(entry, at) {
      if (entry.dueAt !== undefined) {
        if (entry.dueAt <= at) return;
        due.remove(entry);
      }
      sequence += 1;
      entry.sequence = sequence;
      entry.dueAt = at;
      due.push(entry);
      schedule();
    },
    cancel(entry) {
      if (entry.dueAt === undefined) return;
      cancel(entry);
      schedule();
    },
    stop() {
      stopped = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}
