/** Cases measured on cloudflared: is a configuration valid, and which rule serves a URL. */
import { parseGoUrl } from "./go-url.ts";
import { IngressError } from "./problems.ts";
import { routesOf } from "./routes.ts";
import type { IngressRule } from "./types.ts";
import { validateIngress } from "./validate.ts";

/** Plays one case; what is wrong with the outcome, or nothing. */
export function playIngressCase(testCase: Readonly<Record<string, unknown>>): string | undefined {
  const rules = testCase.ingress as readonly IngressRule[];
  const error = objection(rules);
  if (error !== undefined) return testCase.valid === true ? `refused: ${error}` : undefined;
  if (testCase.valid !== true) return `taken, although cloudflared says: ${testCase.error}`;
  const serve = routesOf(rules);
  const wrong = ((testCase.matches ?? []) as { url: string; rule: number }[]).flatMap(({ url, rule }) => {
    const { hostname, path } = parseGoUrl(url);
    const found = serve(hostname, decodeURIComponent(path));
    return found === rule ? [] : [`${url} is served by rule ${found}, with cloudflared by ${rule}`];
  });
  return wrong.length === 0 ? undefined : wrong.join("; ");
}

/** Why the rules are refused, or nothing. */
export function objection(rules: readonly IngressRule[]): string | undefined {
  try {
    validateIngress({ ingress: rules }, "file");
    return undefined;
  } catch (error) {
    if (error instanceof IngressError) return error.message;
    throw error;
  }
}
