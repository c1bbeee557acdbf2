/** Managed fields: who set what. */
import type { Call } from "../call.ts";
import type { KubeObject } from "../object.ts";
import type { Server } from "../server.ts";

/** Notes the caller as the manager of what an update changed. */
export function trackUpdate(
  _server: Server,
  _call: Call,
  _object: KubeObject,
  _old: KubeObject | undefined,
): void {}
