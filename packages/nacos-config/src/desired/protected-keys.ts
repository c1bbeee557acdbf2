/** Which user properties the resource's policy protects. */

/** Property names as Spring binds them: case, `-` and `_` do not count. */
function relaxed(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

/**
 * Comparisons of single characters that are made for one text. A thousand keys against a hundred patterns take about a
 * hundred thousand; this many take a fraction of a second.
 */
const MAX_COMPARISONS = 20_000_000;

/** The patterns take too long on these keys. */
export class ProtectedKeysError extends Error {}

/**
 * The keys that match one of the patterns, in their own order. In a pattern `*` stands for any text, dots included, and
 * `?` for one character. Throws {@link ProtectedKeysError} when that takes more than {@link MAX_COMPARISONS} steps.
 */
export function protectedKeys(keys: Iterable<string>, patterns: readonly string[]): string[] {
  const budget = { left: MAX_COMPARISONS };
  const globs = patterns.map(relaxed);
  return [...keys].filter((key) => {
    const text = relaxed(key);
    return globs.some((glob) => matches(glob, text, budget));
  });
}

/**
 * Whether the text matches. No regular expression: one with several stars can take longer than anybody waits, and with it
 * every other resource.
 */
function matches(glob: string, text: string, budget: { left: number }): boolean {
  let at = 0;
  let from = 0;
  /** Position behind the last star, and where the text goes on that follows what the star stands for. */
  let star: { behind: number; next: number } | undefined;
  while (from < text.length) {
    budget.left -= 1;
    if (budget.left < 0) throw new ProtectedKeysError("too many comparisons");
    if (glob[at] === "*") {
      at += 1;
      star = { behind: at, next: from };
    } else if (at < glob.length && (glob[at] === "?" || glob[at] === text[from])) {
      at += 1;
      from += 1;
    } else if (star !== undefined) {
      star.next += 1;
      at = star.behind;
      from = star.next;
    } else {
      return false;
    }
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
