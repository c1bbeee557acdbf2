/** Paths of rules: how specific each is. */
import type { PathKind, SourceRule } from "./document.ts";

/** Expressions that every path fits (TUN-607). */
const MATCH_ALL = new Set(["/", "^/", ".*", "^.*$", "/.*", "^/.*", "^/.*$"]);
/** What makes a text an expression. */
const META = /[\\.+*?()|[\]{}^$]/;
/** What follows the text of a prefix in its expression. */
export const PREFIX_END: RegExp = /(?:\(\/\.\*\)\?\$|\/\.\*)$/;

export interface PathRank {
  /** 0 exact, 1 expression, 2 prefix, 3 none. */
  readonly rank: 0 | 1 | 2 | 3;
  /** Characters of a prefix; longer ones come first. */
  readonly length: number;
}

/** Whether an expression is known to fit every path (TUN-607). */
export function isMatchAll(path: string): boolean {
  return MATCH_ALL.has(path);
}

/** Text of a path, every character standing for itself in an expression. */
export function escapePath(path: string): string {
  return path.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** How specific the path of a rule is. */
export function pathRank({
  path = "",
  pathKind,
  matchPath,
}: Pick<SourceRule, "path" | "pathKind" | "matchPath">): PathRank {
  if (path === "" || isMatchAll(path)) return { rank: 3, length: 0 };
  const kind = pathKind ?? guessKind(path);
  if (kind === "Exact") return { rank: 0, length: 0 };
  if (kind === "Regex") return { rank: 1, length: 0 };
  return { rank: 2, length: (matchPath ?? path.replace(PREFIX_END, "")).length };
}

/** Kind of a path whose source does not tell it (TUN-608). */
function guessKind(path: string): PathKind {
  const literal = (text: string): boolean => !META.test(text.replace(/\\[\\.+*?()|[\]{}^$]/g, ""));
  const body = path.startsWith("^") ? path.slice(1) : path;
  if (path.startsWith("^") && body.endsWith("$") && literal(body.slice(0, -1))) return "Exact";
  return PREFIX_END.test(body) && literal(body.replace(PREFIX_END, "")) ? "Prefix" : "Regex";
}
