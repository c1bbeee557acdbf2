/** Rules that no request reaches, because an expression before them takes all of theirs (TUN-641). */
import { compilePath } from "@quartet/tunnel-ingress";
import type { Aggregate, IngressEntry, SourceNotice } from "./aggregate.ts";
import { PREFIX_END, pathRank } from "./path-kind.ts";

/** Longer expressions are left out, and counted ones, which stand for far longer ones. */
const MAX_LENGTH = 256;
/**
 * Work for one configuration, in characters of an expression times those of a path. A hostile expression takes 50 ns for
 * each (measured), so all of them take 25 ms; a usual one of 20 characters has a thousand tries.
 */
const MAX_WORK = 500_000;
/** To compile an expression is as much work as to try it on a path of this length. */
const COMPILE_LENGTH = 100;
/** What a path may go on with: an expression that takes all of these is taken for one that takes everything. */
const TAILS = ["", "/", "/x", "/Zq0.~-_/9.html"] as const;

/** Expressions come before prefixes of their host: one that is too broad hides them. */
export function shadowedRules({ config, owners }: Pick<Aggregate, "config" | "owners">): SourceNotice[] {
  const notices: SourceNotice[] = [];
  let left = MAX_WORK;
  for (const places of placesByHost(config.ingress, owners.length)) {
    const ranked = places.map((at) => ({
      at,
      ...config.ingress[at]!,
      rank: pathRank(config.ingress[at]!).rank,
    }));
    const open = new Map(ranked.filter(({ rank }) => rank >= 2).map((rule) => [rule, samples(rule)]));
    for (const { at, rank, path = "" } of ranked) {
      if (rank !== 1 || open.size === 0 || path.length > MAX_LENGTH || path.includes("{")) continue;
      left -= path.length * COMPILE_LENGTH;
      if (left < 0) return notices;
      const takes = compilePath(path);
      const isTaken = (sample: string): boolean => {
        left -= path.length * sample.length;
        return left >= 0 && takes(sample);
      };
      for (const [rule, paths] of open) {
        if (!paths.every(isTaken)) continue;
        open.delete(rule);
        const { hostname = "every host", path: own = "every path" } = rule;
        const message = `${hostname}, ${own} is never reached: the expression ${path} of ${owners[at]} comes first and takes its requests`;
        notices.push({ source: owners[rule.at]!, reason: "RuleShadowed", message });
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
