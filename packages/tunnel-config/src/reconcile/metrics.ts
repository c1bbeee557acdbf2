/** Figures of configurations and of the API (TUN-1008). No label holds a secret. */
import type { Metrics } from "@quartet/core";
import type { ApiObserver } from "../cloudflare/client.ts";

/** Buckets of the time of a transmission, in seconds. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface TunnelMetrics {
  /** A transmission has ended. @param seconds how long it took */
  synced(tunnel: string, result: "synced" | "error", seconds: number): void;
  /** What the configuration of a tunnel holds. */
  holds(tunnel: string, rules: number, conflicts: number): void;
  /** Somebody else's configuration was found. */
  drifted(tunnel: string): void;
  forget(tunnel: string): void;
}

export function createTunnelMetrics(metrics: Metrics): TunnelMetrics {
  const label = ["tunnel"] as const;
  const total = metrics.counter(
    "quartet_tunnel_sync_total",
    "Transmissions of the configuration of a tunnel (its identifier) by result: synced, error.",
    ["tunnel", "result"],
  );
  const duration = metrics.histogram(
    "quartet_tunnel_sync_duration_seconds",
    "Time of a transmission with all its calls.",
    [],
    BUCKETS,
  );
  const rules = metrics.gauge("quartet_tunnel_rules", "Rules of the configuration of a tunnel.", label);
  const conflicts = metrics.gauge(
    "quartet_tunnel_conflicts",
    "Hosts and paths of a tunnel that several objects claim.",
    label,
  );
  const drift = metrics.counter(
    "quartet_tunnel_drift_total",
    "Times that somebody else's configuration was found in the account.",
    label,
  );
  return {
    synced(tunnel, result, seconds) {
      total.inc({ tunnel, result });
      duration.observe(seconds);
    },
    holds(tunnel, count, contested) {
      rules.set({ tunnel }, count);
      conflicts.set({ tunnel }, contested);
    },
    drifted: (tunnel) => drift.inc({ tunnel }),
    forget(tunnel) {
      rules.remove({ tunnel });
      conflicts.remove({ tunnel });
    },
  };
}

/** Counts calls of the API by endpoint, without identifiers, and status; 0 for calls without an answer. */
export function apiObserver(metrics: Metrics): ApiObserver {
  const requests = metrics.counter(
    "quartet_cf_api_requests_total",
    "Calls of the Cloudflare API by endpoint and HTTP status; 0 without an answer.",
    ["endpoint", "code"],
  );
  return {
    answered: (method, endpoint, status) =>
      requests.inc({ endpoint: `${method} ${endpoint}`, code: String(status) }),
  };
}

/** Shows what is left of the budget of each credential, which a part of its hash tells apart. */
export function showBudgets(metrics: Metrics, remaining: () => ReadonlyMap<string, number>): void {
  const left = metrics.gauge(
    "quartet_cf_api_budget_remaining",
    "Calls that a credential (part of its hash) has left in five minutes.",
    ["credential"],
  );
  metrics.onCollect(() => {
    left.reset();
    for (const [credential, calls] of remaining())
      if (Number.isFinite(calls)) left.set({ credential }, calls);
  });
}
