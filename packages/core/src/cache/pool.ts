/** Informers by scope, each shared by all who ask for the same. */
import type { Kind, KubeObject } from "../object.ts";
import { createInformer, type OwnedInformer } from "./informer.ts";
import type { InformerContext } from "./informer-core.ts";
import { projectionName } from "./projections.ts";
import { describeScope, type Scope, scopeId, scopeOf } from "./scope.ts";
import type { Informer, InformerOptions } from "./types.ts";

export interface InformerPool {
  /** Informer of a scope, started if there is none. Every call must be paired with `release`. */
  acquire<T extends KubeObject>(kind: Kind<T>, options?: InformerOptions<T>): OwnedInformer<T>;
  /** Gives an informer back; the last one out stops it. */
  release(informer: Informer): void;
  informers(): readonly OwnedInformer[];
  stop(): Promise<void>;
}

interface Entry {
  readonly informer: OwnedInformer;
  users: number;
}

/** Pool of the informers of one cache; `defaults` are the namespaces of scopes that name none. */
export function createPool(defaults: readonly string[], context: InformerContext): InformerPool {
  const entries = new Set<Entry>();
  const stopping = new Set<Promise<void>>();
  let stopped = false;

  const stopEntry = (entry: Entry): void => {
    entries.delete(entry);
    const stop = entry.informer.stop().finally(() => stopping.delete(stop));
    stopping.add(stop);
  };
  const open = (scope: Scope): Entry => {
    const entry = { informer: createInformer(scope, context), users: 0 };
    entries.add(entry);
    return entry;
  };

  return {
    acquire<T extends KubeObject>(kind: Kind<T>, options: InformerOptions<T> = {}): OwnedInformer<T> {
      if (stopped) throw new Error("the cache is stopped");
      const scope = scopeOf(kind, options, defaults) as Scope;
      const entry = share(entries, scope, context) ?? open(scope);
      entry.users++;
      if (options.optional !== true) entry.informer.require();
      return entry.informer as unknown as OwnedInformer<T>;
    },
    release(informer) {
      for (const entry of entries) {
        if (entry.informer !== informer) continue;
        entry.users--;
        if (entry.users === 0) stopEntry(entry);
      }
    },
    informers: () => Array.from(entries, (entry) => entry.informer),
    async stop() {
      stopped = true;
      for (const entry of [...entries]) stopEntry(entry);
      await Promise.all(stopping);
    },
  };
}

/**
 * The informer that can serve a scope. One that holds whole objects also serves those who want metadata only, and one
 * that holds metadata starts over for those who want whole objects: never are both kept.
 */
function share(entries: Iterable<Entry>, scope: Scope, { log }: InformerContext): Entry | undefined {
  const id = scopeId(scope);
  const wanted = projectionName(scope.projection);
  for (const entry of entries) {
    if (scopeId(entry.informer.scope) !== id) continue;
    const held = projectionName(entry.informer.scope.projection);
    if (held === wanted) return entry;
    const both = new Set([held, wanted]);
    if (!both.has("full") || !both.has("metadata")) continue;
    const { group, plural: resource } = scope.kind;
    log.info("one informer serves both full and metadata-only use", {
      group,
      resource,
      scope: describeScope({ ...scope, projection: "full" }),
    });
    if (wanted === "full") entry.informer.upgrade(scope);
    return entry;
  }
  return undefined;
}
