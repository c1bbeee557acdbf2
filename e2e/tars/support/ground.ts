/** An API server of a file's own with the TARS controllers at work: their webhooks are those of the whole server. */
import { startManager } from "@quartet/manager";
import { tarsModule } from "@quartet/tars-tserver";
import { type Ground, type GroundManager, startGround } from "@quartet/tars-tserver/testkit";

/** Limit for an API server and a manager to start or end on a busy machine, ms. */
export const GROUND_MS = 180_000;

/** Starts the target of the test run for this file alone. */
export function openTarsGround(): Promise<Ground> {
  const real = process.env.QUARTET_TARGET === "real";
  return startGround({ real, startManager: startTars, onProgress: () => {} });
}

/** The manager as `quartet dev` runs it, with the login of an administrator. */
export function startTars(kubeconfig: string, ...args: string[]): Promise<GroundManager> {
  return startManager({
    modules: [tarsModule],
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
      ...args,
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
}
