/** Random numbers that a seed repeats, so that a case that fails can be made again. */

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** True so often, by a probability in [0, 1]. */
  chance(probability: number): boolean;
  /** An element of a list, which must have one. */
  pick<T>(from: readonly T[]): T;
  /** A whole number from 0 to `limit`, which is left out. */
  below(limit: number): number;
}

/** Mulberry32, by Tommy Ettinger (public domain): 32 bits of state are plenty for test data. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (from) => from[below(from.length)]!,
  };
}
