/** Expressions of TunnelBindings as paths of Ingresses and HTTPRoutes. */
import { escapePath, isMatchAll } from "../desired/path-kind.ts";

export interface PathMatch {
  readonly path: string;
  /** Type as the Gateway API names it. */
  readonly type: "Exact" | "PathPrefix" | "RegularExpression";
  /** In what the outcome differs from the expression. */
  readonly note?: string;
}

/** Longest path of an HTTPRoute. */
const MAX_PATH = 1024;

/**
 * The path that an expression stands for; nothing when there is none.
 * @param expressions whether the outcome may be an expression
 */
export function pathMatch(expression: string, expressions: boolean): PathMatch | undefined {
  if (expression === "" || isMatchAll(expression)) return { path: "/", type: "PathPrefix" };
  const exact = literalOf(expression.match(/^\^(.*)\$$/s)?.[1]);
  if (exact !== undefined) return { path: exact, type: "Exact" };
  const prefix = literalOf(expression.match(/^\^(.*)\(\/\.\*\)\?\$$/s)?.[1]);
  if (prefix !== undefined && prefix !== "/") return { path: prefix, type: "PathPrefix" };
  if (expressions)
    return expression.length > MAX_PATH ? undefined : { path: expression, type: "RegularExpression" };
  const bare = literalOf(expression.match(/^\^?(.*)$/s)?.[1]);
  if (bare === undefined) return undefined;
  const note = `${JSON.stringify(expression)} was searched in the whole path, as in ${JSON.stringify(`/x${bare}y`)}; now the path of the request must begin with it`;
  return { path: bare, type: "PathPrefix", note };
}

/** The text that an expression without operators is for, if it is a path that the API server takes. */
function literalOf(expression: string | undefined): string | undefined {
  if (expression === undefined) return undefined;
  const text = expression.replace(/\\([\\.+*?()|[\]{}^$/-])/g, "$1");
  const same = escapePath(text) === expression.replace(/\\([/-])/g, "$1");
  // A dot that was meant as one is hardly ever escaped.
  const dotted = escapePath(text).replaceAll("\\.", ".") === expression;
  if (!same && !dotted) return undefined;
  return /^\/(?!.*(?:\/\/|\/\.{1,2}(?:\/|$)|%2f|#))[!-~]*$/i.test(text) ? text : undefined;
}
