/** What a controller or a webhook may read: the sources that it declared, and nothing else. */
import { NotCachedError } from "../cache/errors.ts";
import { CONTROLLER_INDEX, NAMESPACE_INDEX } from "../cache/informer/informer.ts";
import type { Cache, Informer } from "../cache/types.ts";
import type { DeepReadonly, Kind, KubeObject, ObjectKey } from "../object.ts";
import type { DeclaredSource, ListFilter, Source, SourceReader } from "./types.ts";

/** Name of a controller's index at an informer that it may share with others. */
export function indexName(controller: string, name: string): string {
  return name === NAMESPACE_INDEX || name === CONTROLLER_INDEX ? name : `${controller}/${name}`;
}

/**
 * Reader over declared sources. Another kind is an error, where a cache would begin to watch it in the whole cluster.
 * @param reader who reads, for errors; indexes belong to it
 */
export function createSourceReader(
  reader: string,
  cache: Pick<Cache, "read" | "readAll">,
  sources: () => readonly { readonly source: DeclaredSource; readonly informer: Informer }[],
): SourceReader {
  const declared = <T extends KubeObject>(kind: Kind<T>): Informer<T>[] => {
    const found = sources().filter(
      ({ source }) => source.kind.group === kind.group && source.kind.kind === kind.kind,
    );
    if (found.length === 0) {
      throw new NotCachedError(kind, undefined, `${reader} must declare it as a source`);
    }
    // A kind that is both owned and watched has one informer.
    return [...new Set(found.map(({ informer }) => informer as unknown as Informer<T>))];
  };
  const only = <T extends KubeObject>(kind: Kind<T>): Informer<T> => {
    const [first, ...others] = declared(kind);
    if (others.length === 0) return first!;
    throw new NotCachedError(kind, undefined, `${reader} has several sources of it: read by key`);
  };
  return {
    async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<DeepReadonly<T> | undefined> {
      for (const informer of declared(kind)) {
        const found = await cache.read(informer, key);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    list: async <T extends KubeObject>(kind: Kind<T>, filter?: ListFilter) =>
      cache.readAll(only(kind), filter),
    byIndex: (kind, name, value) => only(kind).byIndex(indexName(reader, name), value),
    referred(kind) {
      throw new NotCachedError(kind, undefined, `${reader} must declare what its objects refer to`);
    },
    source<T extends KubeObject>(kind: Kind<T>): Source<T> {
      return only(kind);
    },
  };
}
