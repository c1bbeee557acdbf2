/** What differs between the configuration in the account and the desired one (TUN-632). */
import type { TunnelConfig } from "./aggregate.ts";
import { isMap, sorted, type Unknown } from "./document.ts";

/** Lines of a difference that are told. */
const MAX_LINES = 5;

/** The difference in at most five lines; none when both mean the same. Unknown members do not count. */
export function driftLines(remote: Unknown | null, desired: TunnelConfig): string[] {
  const theirs = rulesOf(remote);
  const ours = desired.ingress.map((rule) => canonical(rule));
  const lines = [
    ...missingIn(ours, theirs).map((rule) => `unknown rule ${rule}`),
    ...missingIn(theirs, ours).map((rule) => `missing rule ${rule}`),
  ];
  if (lines.length === 0 && JSON.stringify(theirs) !== JSON.stringify(ours))
    lines.push("the order of the rules");
  const options = canonicalOptions(remote?.originRequest);
  if (options !== canonicalOptions(desired.originRequest)) lines.push(`originRequest ${options}`);
  const warp = warpOf(remote);
  if (warp !== desired["warp-routing"].enabled) lines.push(`warp-routing ${warp}`);
  return lines.length > MAX_LINES
    ? [...lines.slice(0, MAX_LINES - 1), `${lines.length - MAX_LINES + 1} more`]
    : lines;
}

function missingIn(known: readonly string[], rules: readonly string[]): string[] {
  const set = new Set(known);
  return rules.filter((rule) => !set.has(rule));
}

/** Whether the account holds rules, beside a catch-all, that are not among the desired ones. */
export function foreignRules(remote: Unknown | null, desired: TunnelConfig): boolean {
  const ours = new Set(desired.ingress.map((rule) => canonical(rule)));
  return rulesOf(remote).some(
    (rule, index, all) => !ours.has(rule) && (index < all.length - 1 || rule.includes("hostname")),
  );
}

/** Whether WARP routing is on; it is off unless it is said to be on. */
export function warpOf(config: Unknown | null): boolean {
  return isMap(config?.["warp-routing"]) && config["warp-routing"].enabled === true;
}

/** The rules, each in one form for all that mean the same. */
export function rulesOf(remote: Unknown | null): string[] {
  return Array.isArray(remote?.ingress) ? remote.ingress.map((rule: unknown) => canonical(rule)) : [];
}

function canonical(rule: unknown): string {
  if (!isMap(rule)) return JSON.stringify(rule);
  const { hostname, path, service, originRequest } = rule;
  const options = canonicalOptions(originRequest);
  return JSON.stringify({
    ...(typeof hostname === "string" && hostname !== "" && { hostname }),
    ...(typeof path === "string" && path !== "" && { path }),
    service,
    ...(options !== "{}" && { originRequest: JSON.parse(options) }),
  });
}

/** Options in one form for all that mean the same. */
export function canonicalOptions(options: unknown): string {
  return isMap(options) ? JSON.stringify(sorted(options)) : "{}";
}
