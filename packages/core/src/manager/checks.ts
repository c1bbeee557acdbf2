/** The manager's own health checks. */
import type { Cache, Informer } from "../cache/types.ts";
import type { Clock } from "../clock.ts";
import type { Controller } from "../controller/types.ts";
import type { HealthCheck } from "../observe/health.ts";

/** A leader may be this much older than its Lease before it counts as hung (client-go's health check adaptor: 20 s). */
const LEADER_GRACE_MS = 20_000;
/** A right that was lost while running fails readiness after so long (CORE-238). */
const FORBIDDEN_GRACE_MS = 120_000;

/** Fails for a leader that has not renewed for the Lease's duration and 20 s more. */
export function leaderCheck(sinceRenewal: () => number | undefined, leaseDurationMs: number): HealthCheck {
  return () => {
    const age = sinceRenewal() ?? 0;
    return age > leaseDurationMs + LEADER_GRACE_MS
      ? `leader has not renewed its lease for ${Math.round(age)} ms`
      : undefined;
  };
}

export interface CacheCheckOptions {
  cache: Pick<Cache, "informers">;
  controllers: () => readonly Controller[];
  clock: Clock;
}

/**
 * Fails until every informer has synced once. A kind that is not served, and an optional one that is forbidden, are
 * not waited for.
 */
export function cacheCheck({ cache, controllers, clock }: CacheCheckOptions): HealthCheck {
  const forbiddenSince = new WeakMap<Informer, number>();
  const isOptional = (informer: Informer): boolean => {
    const sources = controllers().flatMap((controller) => controller.sources);
    const same = sources.filter(
      ({ kind }) => kind.group === informer.kind.group && kind.plural === informer.kind.plural,
    );
    return same.length > 0 && same.every((source) => source.options.optional === true);
  };
  const problemOf = (informer: Informer): string | undefined => {
    if (informer.state === "forbidden") {
      if (isOptional(informer)) return undefined;
      const since = forbiddenSince.get(informer) ?? clock.monotonic();
      forbiddenSince.set(informer, since);
      if (informer.everSynced && clock.monotonic() - since < FORBIDDEN_GRACE_MS) return undefined;
      return "forbidden";
    }
    forbiddenSince.delete(informer);
    const waits = informer.state === "waiting-for-kind" || informer.state === "stopped";
    return waits || informer.everSynced ? undefined : "not synced";
  };
  return () => {
    const problems = cache.informers().flatMap((informer) => {
      const problem = problemOf(informer);
      return problem === undefined ? [] : [`${informer.kind.plural}.${informer.kind.group} ${problem}`];
    });
    return problems.length === 0 ? undefined : problems.join(", ");
  };
}
