/** What turns one configuration of a tunnel into another, line by line (TUN-639). */

import type { Unknown } from "./document.ts";
import { canonicalOptions, rulesOf, warpOf } from "./drift.ts";

/**
 * Lines that begin with `-` for what goes, `+` for what comes, `~` for what changes; none when both mean the same.
 * @param ownerOf who asks for the rule of a place in the second one
 */
export function configDiff(
  before: Unknown | null,
  after: Unknown | null,
  ownerOf: (place: number) => string | undefined = () => undefined,
): string[] {
  const [old, next] = [rulesOf(before), rulesOf(after)];
  const [known, wanted] = [new Set(old), new Set(next)];
  const lines = [
    ...old.filter((rule) => !wanted.has(rule)).map((rule) => `- ${ruleText(rule)}`),
    ...next.flatMap((rule, place) => {
      const owner = ownerOf(place);
      const by = owner === undefined ? "" : `; asked for by ${owner}`;
      return known.has(rule) ? [] : [`+ ${ruleText(rule)}${by}`];
    }),
  ];
  const common = (rules: readonly string[], other: ReadonlySet<string>) =>
    rules.filter((one) => other.has(one));
  if (JSON.stringify(common(old, wanted)) !== JSON.stringify(common(next, known)))
    lines.push("~ the order of the rules");
  const [options, newOptions] = [
    canonicalOptions(before?.originRequest),
    canonicalOptions(after?.originRequest),
  ];
  if (options !== newOptions) lines.push(`~ originRequest: ${options} becomes ${newOptions}`);
  if (warpOf(before) !== warpOf(after))
    lines.push(`~ warp-routing: ${warpOf(before)} becomes ${warpOf(after)}`);
  return lines;
}

/** A rule as one reads it; what is none stays as it is. */
function ruleText(canonical: string): string {
  const rule = JSON.parse(canonical) as Unknown | null;
  if (typeof rule?.service !== "string") return canonical;
  const { hostname = "every host", path = "every path", service, originRequest } = rule;
  const options = originRequest === undefined ? "" : `, with ${JSON.stringify(originRequest)}`;
  return `${hostname}, ${path}: ${service}${options}`;
}
