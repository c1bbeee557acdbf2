/** Hooks that tie the client to the cache and to leadership. */
import type { Cache } from "../cache/types.ts";
import type { ClientHooks, WriteInfo } from "../client/types.ts";

/** Lays this process's own writes over the cache, so that reads see them before the watch does. */
export function overlayHooks(cache: Pick<Cache, "overlay">): ClientHooks {
  return {
    afterWrite(info, object) {
      if (info.dryRun || info.verb === "deletecollection") return;
      if (object !== undefined) cache.overlay(info.kind, info.key, object);
      else if (info.verb === "delete") cache.overlay(info.kind, info.key, "deleted");
    },
  };
}

/** The hooks of several concerns as one. */
export function joinHooks(...all: readonly ClientHooks[]): ClientHooks {
  return {
    beforeWrite(info: WriteInfo) {
      for (const hooks of all) hooks.beforeWrite?.(info);
    },
    afterWrite(info, object) {
      for (const hooks of all) hooks.afterWrite?.(info, object);
    },
  };
}
