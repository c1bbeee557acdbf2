/** What the agent counts. */
import type { Registry } from "prom-client";

export interface AgentMetrics {
  request(backend: string, milliseconds: number, ok: boolean): void;
  healthy(backend: string, ok: boolean): void;
  processed(dest: string, status: "success" | "failure"): void;
  written(dest: string): void;
  command(kind: "check" | "reload", status: number): void;
  loaded(resources: number, keys: number): void;
  missedEvents(): void;
  reloadPending(dest: string, pending: boolean): void;
}

/** Counts nothing. */
export const NO_METRICS: AgentMetrics = {
  request: () => {},
  healthy: () => {},
  processed: () => {},
  written: () => {},
  command: () => {},
  loaded: () => {},
  missedEvents: () => {},
  reloadPending: () => {},
};

export interface ExposedMetrics extends AgentMetrics {
  /** In Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Makes the metrics; their library is loaded only where they are wanted. */
export async function createMetrics(): Promise<ExposedMetrics> {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry: Registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const requests = counter("confd_backend_request_total", "Requests to backends.", ["backend"]);
  const errors = counter("confd_backend_errors_total", "Requests to backends that failed.", ["backend"]);
  const durations = new Histogram({
    name: "confd_backend_request_duration_seconds",
    help: "Time of requests to backends.",
    labelNames: ["backend"],
    registers,
  });
  const health = gauge("confd_backend_healthy", "1 while the backend answers.", ["backend"]);
  const runs = counter("confd_template_process_total", "Runs of resources.", ["dest", "status"]);
  const templates = gauge("confd_templates_loaded", "Resources that are loaded.");
  const keys = gauge("confd_watched_keys", "Keys and trees of keys that resources ask for.");
  const commands = counter("confd_command_total", "Commands that ran.", ["kind"]);
  const statuses = counter("confd_command_exit_code_total", "Commands by their exit status; -1 is none.", [
    "kind",
    "code",
  ]);
  const files = counter("confd_file_sync_total", "Files that were written.", ["dest"]);
  const missed = counter(
    "confd_missed_events_total",
    "Changes that a comparison found and the watch had not told.",
  );
  const pending = gauge("confd_reload_pending", "1 while a reload is due.", ["dest"]);
  const success = gauge("confd_last_success_timestamp_seconds", "Time of the last run that succeeded.", [
    "dest",
  ]);
  return {
    request: (backend, milliseconds, ok) => {
      requests.inc({ backend });
      durations.observe({ backend }, milliseconds / 1000);
      if (!ok) errors.inc({ backend });
    },
    healthy: (backend, ok) => health.set({ backend }, ok ? 1 : 0),
    processed: (dest, status) => {
      runs.inc({ dest, status });
      if (status === "success") success.set({ dest }, Date.now() / 1000);
    },
    written: (dest) => files.inc({ dest }),
    command: (kind, status) => {
      commands.inc({ kind });
      statuses.inc({ kind, code: String(status) });
    },
    loaded: (resources, keyCount) => {
      templates.set(resources);
      keys.set(keyCount);
    },
    missedEvents: () => missed.inc(),
    reloadPending: (dest, isPending) => pending.set({ dest }, isPending ? 1 : 0),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
