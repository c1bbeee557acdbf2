/** Metrics of leader election. */
import type { Metrics } from "./metrics.ts";

/** What leader election tells about itself. */
export interface LeaderObserver {
  onLeading(leading: boolean): void;
  /** A renewal could not go by the last seen version of the Lease and had to read it again. */
  onSlowPath(): void;
  /** A write of leader work was refused, since the Lease had not been renewed in time. */
  onFencedWrite(): void;
}

/** Observer that keeps `leader_election_*` (for the Lease of that name, if there is one), `quartet_leader` and `quartet_fenced_writes_total`. */
export function leaderMetrics(metrics: Metrics, lease: string | undefined): LeaderObserver {
  const name = { name: lease ?? "" };
  const status = metrics.gauge("leader_election_master_status", "1 while this process holds the Lease.", [
    "name",
  ]);
  const slowPath = metrics.counter(
    "leader_election_slowpath_total",
    "Renewals that had to read the Lease again.",
    ["name"],
  );
  const leader = metrics.gauge("quartet_leader", "1 while this process leads, with or without a Lease.");
  const fenced = metrics.counter(
    "quartet_fenced_writes_total",
    "Writes of leader work that were not sent, since the Lease was not renewed in time.",
  );
  leader.set(0);
  if (lease !== undefined) {
    status.set(name, 0);
    slowPath.inc(name, 0);
  }
  return {
    onLeading(leading) {
      if (lease !== undefined) status.set(name, leading ? 1 : 0);
      leader.set(leading ? 1 : 0);
    },
    onSlowPath: () => slowPath.inc(name),
    onFencedWrite: () => fenced.inc(),
  };
}
