/** Path expressions: RE2 as Go's `regexp` takes it, which knows neither look-around nor back-references. */
import { RE2JS } from "re2js";

/**
 * Longest path expression taken. Ours: cloudflared has no limit, and this bounds what compiling one of a tenant's costs.
 */
export const MAX_PATTERN_LENGTH = 4096;

export class PathPatternError extends Error {
  override readonly name = "PathPatternError";
}

/** Whether a path holds a match, in time linear in its length. */
export type PathMatcher = (path: string) => boolean;

/** Compiles a path expression; throws {@link PathPatternError} where Go refuses it. */
export function compilePath(pattern: string): PathMatcher {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new PathPatternError(
      `expression of ${pattern.length} characters; at most ${MAX_PATTERN_LENGTH} are taken`,
    );
  }
  const expression = compile(pattern);
  return (path) => expression.matcher(path).find();
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new PathPatternError(error instanceof Error ? error.message : String(error));
  }
}
