/** Rules that no request reaches, because an expression before them takes all of theirs (TUN-641). */
import { compilePath } from "@quartet/tunnel-ingress";
import type { Aggregate, IngressEntry, SourceNotice } from "./aggregate.ts";
import { PREFIX_END, pathRank } from "./path-kind.ts";

/** Expressions that are tried in one configuration: what they cost is bounded, and no reader follows more. */
const MAX_EXPRESSIONS = 200;
/** Rules that are looked at behind an expression. */
const MAX_FOLLOWERS = 200;
/** What a path may go on with: an expression that takes all of these is taken for one that takes everything. */
const TAILS = ["", "/", "/x", "/Zq0.~-_/9.html"] as const;

/** Expressions come before prefixes of their host: one that is too broad hides them. */
export function shadowedRules({ config, owners }: Pick<Aggregate, "config" | "owners">): SourceNotice[] {
  const notices: SourceNotice[] = [];
  let left = MAX_EXPRESSIONS;
  for (const places of placesByHost(config.ingress, owners.length)) {
    const ranked = places.map((at) => ({ at, rank: pathRank(config.ingress[at]!).rank }));
    const followers = ranked.filter(({ rank }) => rank >= 2).slice(0, MAX_FOLLOWERS);
    if (followers.length === 0) continue;
    const hidden = new Set<number>();
    for (const { at } of ranked.filter(({ rank }) => rank === 1)) {
      left -= 1;
      if (left < 0) return notices;
      const { path = "" } = config.ingress[at]!;
      const takes = compilePath(path);
      for (const { at: place } of followers) {
        const rule = config.ingress[place]!;
        if (hidden.has(place) || !samples(rule).every(takes)) continue;
        hidden.add(place);
        const { hostname = "every host", path: own = "every path" } = rule;
        const message = `${hostname}, ${own} is never reached: the expression ${path} of ${owners[at]} comes first and takes its requests`;
        notices.push({ source: owners[place]!, reason: "RuleShadowed", message });
      }
    }
  }
  return notices;
}

function placesByHost(rules: readonly IngressEntry[], count: number): Iterable<readonly number[]> {
  const places = Array.from({ length: count }, (_, at) => at);
  return Map.groupBy(places, (at) => rules[at]?.hostname ?? "").values();
}

/** Paths that a prefix, or a rule without one, is asked for. */
function samples({ path = "" }: IngressEntry): string[] {
  const prefix = path.replace(/^\^/, "").replace(PREFIX_END, "").replace(/\\(.)/g, "$1").replace(/^\/$/, "");
  const literal = pathRank({ path }).rank === 2 ? prefix : "";
  return TAILS.map((tail) => `${literal}${tail}` || "/");
}
