/** Errors of cached reads. */
import { type Kind, keyToString, type ObjectKey } from "../object.ts";
import { resourceName } from "./scope.ts";
import type { SetAside, SourceState } from "./types.ts";

/** Nobody watches what was asked for; a read does not begin to. */
export class NotCachedError extends Error {
  override readonly name = "NotCachedError";

  constructor(kind: Kind, namespace: ObjectKey["namespace"] | undefined, remedy: string) {
    const where =
      namespace === undefined || namespace === "" ? "" : ` in namespace ${JSON.stringify(namespace)}`;
    super(`${resourceName(kind)}${where} is not cached; ${remedy}`);
  }
}

/** The object exists, but its newest version could not be taken into the cache and no earlier one is there. */
export class ObjectSetAsideError extends Error {
  override readonly name = "ObjectSetAsideError";

  constructor(kind: Kind, { key, reason }: SetAside) {
    super(`${resourceName(kind)} ${keyToString(key)} cannot be cached: ${reason}`);
  }
}

/** An informer has not synced. `cause` is the last error of its list or watch. */
export class CacheSyncError extends Error {
  override readonly name = "CacheSyncError";
  readonly kind: Kind;
  /** `waiting-for-kind` and `forbidden` tell a missing CRD and a missing right from other causes. */
  readonly state: SourceState;

  constructor(init: {
    kind: Kind;
    state: SourceState;
    waitedMs: number;
    controller?: string;
    cause: unknown;
  }) {
    const { kind, state, waitedMs, controller, cause } = init;
    const who = controller === undefined ? "" : `controller ${controller}: `;
    const why =
      cause instanceof Error ? cause.message : cause === undefined ? "no answer yet" : String(cause);
    const after = waitedMs > 0 ? ` within ${waitedMs / 1000} s` : "";
    super(`${who}cache of ${resourceName(kind)} did not sync${after} (${state}): ${why}`, { cause });
    this.kind = kind;
    this.state = state;
  }
}
