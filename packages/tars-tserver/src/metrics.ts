/** Figures of servers, configurations and admission (R-100 to 103). */
import type { Metrics, ObjectKey } from "@quartet/core";

/** Buckets of the time until the registry sets a gate, in seconds; the times of conditions are whole seconds. */
const GATE_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300];

export interface ServerMetrics {
  /** How many pods of a server are routed to, and how many are not. */
  holds(server: ObjectKey, active: number, inactive: number): void;
  /** The gate of a pod was set so long after its containers were ready. */
  gateSet(seconds: number): void;
  /** The server is gone. */
  forget(server: ObjectKey): void;
}

/** What became of a version: another one took its place, it stays in force after all, it went. */
export type ConfigAction = "deactivated" | "restored" | "deleted";

export interface ConfigMetrics {
  changed(action: ConfigAction): void;
}

export function createServerMetrics(metrics: Metrics): ServerMetrics {
  const pods = metrics.gauge(
    "quartet_tars_endpoint_pods",
    "Pods of a TServer by their state in its TEndpoint: active (they are routed to), inactive.",
    ["namespace", "server", "state"],
  );
  const gate = metrics.histogram(
    "quartet_tars_gate_seconds",
    "Time from when the containers of a pod were ready until its gate tars.io/active was set.",
    [],
    GATE_BUCKETS,
  );
  const labelsOf = ({ namespace, name }: ObjectKey, state: string) => ({ namespace, server: name, state });
  return {
    holds(server, active, inactive) {
      pods.set(labelsOf(server, "active"), active);
      pods.set(labelsOf(server, "inactive"), inactive);
    },
    gateSet: (seconds) => gate.observe(seconds),
    forget(server) {
      for (const state of ["active", "inactive"]) pods.remove(labelsOf(server, state));
    },
  };
}

export function createConfigMetrics(metrics: Metrics): ConfigMetrics {
  const versions = metrics.counter(
    "quartet_tars_config_versions_total",
    "Versions of TConfigs by what became of them: deactivated (another one took their place), restored, deleted.",
    ["action"],
  );
  return { changed: (action) => versions.inc({ action }) };
}

/** Counts requests that admission refuses; those that only try are not counted. */
export function createDenialCounter(metrics: Metrics): (kind: string, operation: string) => void {
  const denied = metrics.counter(
    "quartet_tars_denied_requests_total",
    "Requests that admission has denied, by kind and operation.",
    ["kind", "operation"],
  );
  return (kind, operation) => denied.inc({ kind, operation });
}
