/** Which user properties the resource's policy protects. */

/** Property names as Spring binds them: case, `-` and `_` do not count. */
function relaxed(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

/**
 * The keys that match one of the patterns, in their own order. In a pattern `*` stands for any text, dots included, and
 * `?` for one character.
 */
export function protectedKeys(keys: Iterable<string>, patterns: readonly string[]): string[] {
  const globs = patterns.map(relaxed);
  return [...keys].filter((key) => globs.some((glob) => matches(glob, relaxed(key))));
}

/**
 * Whether the text matches. No regular expression: one with several stars can take longer than anybody waits, and with it
 * every other resource.
 */
function matches(glob: string, text: string): boolean {
  let at = 0;
  let from = 0;
  /** Position behind the last star, and where the text goes on that follows what the star stands for. */
  let star: { behind: number; next: number } | undefined;
  while (from < text.length) {
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
  return /^\**$/.test(glob.slice(at));
}
