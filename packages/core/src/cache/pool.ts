/** Informers by scope, each shared by all who ask for the same. */
import type { Kind, KubeObject } from "../object.ts";
import { createInformer, type OwnedInformer } from "./informer/informer.ts";
import type { InformerContext } from "./informer/informer-core.ts";
import { describeScope, type Scope, scopeId, scopeOf } from "./scope.ts";
import { projectionName } from "./store/projections.ts";
import type { Informer, InformerOptions } from "./types.ts";

export interface InformerPool {
  /** Informer of a scope, started if there is none. Every call must be paired with `release`. */
  acquire<T extends KubeObject>(kind: Kind<T>, options?: InformerOptions<T>): OwnedInformer<T>;
  /** Gives an informer back; the last one out stops it. */
  release(informer: Informer): void;
  /** All, or those of one resource in any version. */
  informers(kind?: Pick<Kind, "group" | "plural">): readonly OwnedInformer[];
  stop(): Promise<void>;
}

interface Entry {
  readonly informer: OwnedInformer;
  /** See {@link scopeId}; a change of the projection leaves it as it is. */
  readonly id: string;
  users: number;
}

/** Informers that run, found by themselves, by their scope and by their resource. */
function createEntries() {
  const byInformer = new Map<Informer, Entry>();
  const byScope = new Map<string, Set<Entry>>();
  const byResource = new Map<string, Set<Entry>>();
  const indexes = [
    { map: byScope, keyOf: (entry: Entry) => entry.id },
    { map: byResource, keyOf: (entry: Entry) => resourceId(entry.informer.kind) },
  ];
  return {
    all: () => byInformer.values(),
    of: (informer: Informer) => byInformer.get(informer),
    ofScope: (id: string): Iterable<Entry> => byScope.get(id) ?? [],
    ofResource: (kind: Pick<Kind, "group" | "plural">): Iterable<Entry> =>
      byResource.get(resourceId(kind)) ?? [],
    add(entry: Entry): void {
      byInformer.set(entry.informer, entry);
      for (const { map, keyOf } of indexes) {
        const key = keyOf(entry);
        map.set(key, (map.get(key) ?? new Set()).add(entry));
      }
    },
    delete(entry: Entry): void {
      byInformer.delete(entry.informer);
      for (const { map, keyOf } of indexes) {
        const key = keyOf(entry);
        const entries = map.get(key);
        entries?.delete(entry);
        if (entries?.size === 0) map.delete(key);
      }
    },
  };
}

const resourceId = ({ group, plural }: Pick<Kind, "group" | "plural">): string => `${plural}.${group}`;

/** Pool of the informers of one cache; `defaults` are the namespaces of scopes that name none. */
export function createPool(defaults: readonly string[], context: InformerContext): InformerPool {
  const entries = createEntries();
  const stopping = new Set<Promise<void>>();
  let stopped = false;

  const stopEntry = (entry: Entry): void => {
    entries.delete(entry);
    const stop = entry.informer.stop().finally(() => stopping.delete(stop));
    stopping.add(stop);
  };
  const open = (scope: Scope, id: string): Entry => {
    const entry = { informer: createInformer(scope, context), id, users: 0 };
    entries.add(entry);
    return entry;
  };

  return {
    acquire<T extends KubeObject>(kind: Kind<T>, options: InformerOptions<T> = {}): OwnedInformer<T> {
      if (stopped) throw new Error("the cache is stopped");
      const scope = scopeOf(kind, options, defaults) as Scope;
      const id = scopeId(scope);
      const entry = share(entries.ofScope(id), scope, context) ?? open(scope, id);
      entry.users++;
      if (options.optional !== true) entry.informer.require();
      return entry.informer as unknown as OwnedInformer<T>;
    },
    release(informer) {
      const entry = entries.of(informer);
      if (entry === undefined) return;
      entry.users--;
      if (entry.users === 0) stopEntry(entry);
    },
    informers: (kind) =>
      Array.from(kind === undefined ? entries.all() : entries.ofResource(kind), ({ informer }) => informer),
    async stop() {
      stopped = true;
      for (const entry of [...entries.all()]) stopEntry(entry);
      await Promise.all(stopping);
    },
  };
}

/**
 * Of the informers of a scope the one that can serve a projection. One that holds whole objects also serves those who
 * want metadata only, and one that holds metadata starts over for those who want whole objects: never are both kept.
 */
function share(entries: Iterable<Entry>, scope: Scope, { log }: InformerContext): Entry | undefined {
  const wanted = projectionName(scope.projection);
  for (const entry of entries) {
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
