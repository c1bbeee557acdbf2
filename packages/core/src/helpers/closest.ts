/** Suggestions for misspelt names. */

/** How many names a message offers. */
const MAX_SUGGESTIONS = 3;
/** How many typing errors a suggestion may be away. */
const MAX_DISTANCE = 3;

/** The known names that `name` may have been meant to be, nearest first; empty when none is near. */
export function closest(name: string, known: Iterable<string>): string[] {
  const limit = Math.min(MAX_DISTANCE, Math.max(2, Math.floor(name.length / 3)));
  return [...new Set(known)]
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

/** `; did you mean --a or --b?`, or `""`: the end of a message about an unknown name. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return "";
  const last = names.at(-1)!;
  const list = names.length === 1 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
  return `; did you mean ${list}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, beforeLast[column - 2]! + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
