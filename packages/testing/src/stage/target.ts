/** The API server that a test run is for. */
import { inject } from "vitest";
import type { ApiServer } from "../api-server.ts";
import { startDouble } from "../apiserver-double/index.ts";
import { attachControlPlane, type ControlPlaneHandle } from "../control-plane/index.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Provided by the global setup of the project `real`. */
    controlPlane: ControlPlaneHandle;
  }
}

/** The run's real control plane, or a double of the caller's own; `stop` leaves the shared one running. */
export async function openTarget(): Promise<ApiServer> {
  return process.env.QUARTET_TARGET === "real" ? attachControlPlane(inject("controlPlane")) : startDouble();
}
