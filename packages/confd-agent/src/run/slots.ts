/** A limit to how much runs at the same time, first come first served. */
export interface Slots {
  /** Waits for a slot; call the result to give it back. */
  take(): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const once = (): (() => void) => {
    let given = false;
    return () => {
      if (!given) giveBack();
      given = true;
    };
  };
  return {
    take: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return once();
    },
  };
}
