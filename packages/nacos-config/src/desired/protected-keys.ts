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
  const tests = patterns.map((pattern) => toRegExp(relaxed(pattern)));
  return [...keys].filter((key) => tests.some((test) => test.test(relaxed(key))));
}

function toRegExp(glob: string): RegExp {
  const source = glob
    // Several stars in a row are one: it keeps the expression linear enough for hostile patterns.
    .replace(/\*+/g, "*")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, "[^]*")
    .replace(/\?/g, "[^]");
  return new RegExp(`^${source}$`);
}
