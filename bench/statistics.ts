/** Figures about figures. */

/** Nearest-rank percentile, `share` from 0 to 1; NaN of no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Middle value, or the mean of the two middle ones; NaN of no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (Number.isInteger(middle))
    return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
  return sorted[Math.floor(middle)] ?? Number.NaN;
}

/** The items, begun at another one each round, so that no subject always comes first. */
export function rotated<T>(items: readonly T[], round: number): T[] {
  const start = round % Math.max(1, items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
