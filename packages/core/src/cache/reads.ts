/** `get` and `list` of a cache. */
import { isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import {
  type DeepReadonly,
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  type ObjectKey,
} from "../object.ts";
import { CacheSyncError, NotCachedError, ObjectSetAsideError } from "./errors.ts";
import { deepFreeze } from "./guard.ts";
import type { OwnedInformer } from "./informer/informer.ts";
import { waitForSync } from "./informer/states.ts";
import type { InformerPool } from "./pool.ts";
import { covers } from "./scope.ts";
import { hasLabels } from "./selectors.ts";
import type { Cache, Informer } from "./types.ts";

export interface ReadsOptions {
  client: Client;
  clock: Clock;
  pool: InformerPool;
  /** The cache's own namespaces; empty for all. */
  namespaces: readonly string[];
  guard: boolean;
  syncTimeoutMs: number;
}

export function createReads(options: ReadsOptions): Pick<Cache, "get" | "list" | "read" | "readAll"> {
  const reader = createReader(options);
  const live = createLiveRead(options);

  const reads: Pick<Cache, "get" | "list" | "read" | "readAll"> = {
    get: async (kind, key) => reads.read(await reader(kind, kind.namespaced ? key.namespace : ""), key),
    list: async (kind, filter) =>
      reads.readAll(await reader(kind, kind.namespaced ? filter?.namespace : undefined), filter),
    async read<T extends KubeObject>(
      given: Informer<T>,
      key: ObjectKey,
    ): Promise<DeepReadonly<T> | undefined> {
      const { kind } = given;
      const informer = readable(given);
      const own = kind.namespaced ? key : { namespace: "", name: key.name };
      if (informer.isLive(own)) return live(kind, own);
      const object = informer.get(own);
      const aside = object === undefined ? informer.asideOf(own) : undefined;
      // "Absent" would be a lie that a controller might act on.
      if (aside !== undefined) throw new ObjectSetAsideError(kind, aside);
      return object;
    },
    async readAll<T extends KubeObject>(
      given: Informer<T>,
      filter: { namespace?: string; labels?: Record<string, string> } = {},
    ): Promise<readonly DeepReadonly<T>[]> {
      const { kind } = given;
      const informer = readable(given);
      const { labels } = filter;
      const namespace = kind.namespaced ? filter.namespace : undefined;
      const objects = informer.list({
        ...(namespace !== undefined && { namespace }),
        ...(labels !== undefined && { labels }),
      });
      const keys = informer
        .liveKeys()
        .filter((key) => namespace === undefined || key.namespace === namespace);
      if (keys.length === 0) return objects;

      const uncertain = new Set(keys.map(keyToString));
      const certain = objects.filter((object) => !uncertain.has(keyToString(keyOf(object))));
      for (const object of await Promise.all(keys.map((key) => live(kind, key)))) {
        if (object !== undefined && (labels === undefined || hasLabels(object, labels))) certain.push(object);
      }
      return certain;
    },
  };
  return reads;
}

/** The informer as this cache made it. Throws `CacheSyncError` when it has held nothing yet. */
function readable<T extends KubeObject>(informer: Informer<T>): OwnedInformer<T> {
  const { kind, state, lastError: cause } = informer;
  if (!informer.everSynced) throw new CacheSyncError({ kind, state, waitedMs: 0, cause });
  return informer as OwnedInformer<T>;
}

/** Finds the informer that answers reads of a kind in a namespace, and waits until it can. None is started for a read. */
function createReader(
  options: ReadsOptions,
): <T extends KubeObject>(kind: Kind<T>, namespace: string | undefined) => Promise<OwnedInformer<T>> {
  const { clock, pool, namespaces, syncTimeoutMs } = options;
  const find = <T extends KubeObject>(kind: Kind<T>, namespace: string | undefined): OwnedInformer<T> => {
    for (const informer of pool.informers(kind)) {
      if (informer.kind.version !== kind.version || informer.scope.projection !== "full") continue;
      if (covers(informer.scope, namespace, namespaces)) return informer as unknown as OwnedInformer<T>;
    }
    const isOutside = kind.namespaced && namespace !== undefined && namespaces.length > 0;
    if (isOutside && !namespaces.includes(namespace)) {
      throw new NotCachedError(kind, namespace, `the cache covers ${namespaces.join(", ")} only`);
    }
    throw new NotCachedError(kind, namespace, "watch the kind, or read it live through the client");
  };

  return async (kind, namespace) => {
    const informer = find(kind, namespace);
    if (!informer.everSynced)
      await waitForSync(informer, { clock, timeoutMs: syncTimeoutMs, impatient: true });
    return informer;
  };
}

/** Read past the cache; `undefined` when there is no such object. */
function createLiveRead({
  client,
  guard,
}: ReadsOptions): <T extends KubeObject>(
  kind: Kind<T>,
  key: ObjectKey,
) => Promise<DeepReadonly<T> | undefined> {
  return async <T extends KubeObject>(kind: Kind<T>, key: ObjectKey) => {
    try {
      const object = await client.get(kind, key);
      return (guard ? deepFreeze(object) : object) as DeepReadonly<T>;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}
