/** Hooks that tie the client to the cache and to leadership. */
import type { Cache } from "../cache/types.ts";
import type { ClientHooks, WriteInfo } from "../client/types.ts";
import { keyOf } from "../object.ts";

/** Lays this process's own writes over the cache, so that reads see them before the watch does. */
export function overlayHooks(cache: Pick<Cache, "overlay">): ClientHooks {
  return {
    afterWrite(info, object, uid) {
      if (info.dryRun || info.verb === "deletecollection") return;
      // Some kinds, Services among them, answer a delete with the object that is gone; what lives on bears a mark.
      const isGone = info.verb === "delete" && object?.metadata.deletionTimestamp === undefined;
      if (isGone) cache.overlay(info.kind, info.key, "deleted", uid);
      else if (object !== undefined) {
        // A generated name is in the answer only.
        cache.overlay(info.kind, info.key.name === "" ? keyOf(object) : info.key, object);
      }
    },
  };
}

/** The hooks of several concerns as one. */
export function joinHooks(...all: readonly ClientHooks[]): ClientHooks {
  return {
    beforeWrite(info: WriteInfo) {
      for (const hooks of all) hooks.beforeWrite?.(info);
    },
    afterWrite(info, object, uid) {
      for (const hooks of all) hooks.afterWrite?.(info, object, uid);
    },
  };
}
