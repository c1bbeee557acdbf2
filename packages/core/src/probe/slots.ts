/** How much work outside the cluster begins at a time. */
import type { Clock } from "../clock.ts";

/** Pieces of work of one group that begin at a time; each opens a connection. */
const SLOTS = 16;
/** Work that takes longer gives its slot back, in milliseconds: targets that hang must not hold up those that answer. */
const HELD_MS = 2_000;

export interface Slots {
  /** Runs the work when its group has a slot: a group that has none left holds up no other. */
  run<T>(group: string, work: () => Promise<T>): Promise<T>;
}

interface Group {
  taken: number;
  readonly waiting: (() => void)[];
}

export function createSlots(clock: Clock): Slots {
  const groups = new Map<string, Group>();

  const release = (name: string, group: Group): void => {
    const next = group.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    group.taken -= 1;
    if (group.taken === 0) groups.delete(name);
  };

  return {
    async run(name, work) {
      const group = groups.get(name) ?? { taken: 0, waiting: [] };
      groups.set(name, group);
      if (group.taken < SLOTS) group.taken += 1;
      else await new Promise<void>((resolve) => group.waiting.push(resolve));
      let held = true;
      const giveBack = (): void => {
        if (held) release(name, group);
        held = false;
      };
      const cancel = clock.setTimer(HELD_MS, giveBack);
      try {
        return await work();
      } finally {
        cancel();
        giveBack();
      }
    },
  };
}
