/** The manager's own health checks. */
import type { Controller } from "../controller/types.ts";
import { advisory, type HealthCheck } from "./health-check.ts";

/** A leader may be this much older than its Lease before it counts as hung (client-go's health check adaptor: 20 s). */
const LEADER_GRACE_MS = 20_000;

/** Fails for a leader that has not renewed for the Lease's duration and 20 s more. */
export function leaderCheck(sinceRenewal: () => number | undefined, leaseDurationMs: number): HealthCheck {
  return () => {
    const age = sinceRenewal() ?? 0;
    return age > leaseDurationMs + LEADER_GRACE_MS
      ? `leader has not renewed its lease for ${Math.round(age)} ms`
      : undefined;
  };
}

/**
 * Fails while the caches of a controller are filled for the first time. One that cannot be filled in time, for want of
 * its kind, of a right, or of an answer, concerns its controller alone: see {@link controllerCheck}.
 */
export function cacheCheck(
  controllers: () => readonly Pick<Controller, "name" | "state" | "problem">[],
): HealthCheck {
  return () => {
    const waiting = controllers().filter(({ state }) => state === "Starting" || state === "Syncing");
    return waiting.length === 0
      ? undefined
      : waiting.map(({ name, problem }) => problem ?? `controller ${name} has not begun`).join("; ");
  };
}

/** Fails while a controller cannot work. It is told, but takes the process out of no Service: others do work. */
export function controllerCheck(controller: Pick<Controller, "state" | "problem">): HealthCheck {
  return advisory(() => (controller.state === "Failed" ? (controller.problem ?? "failed") : undefined));
}
