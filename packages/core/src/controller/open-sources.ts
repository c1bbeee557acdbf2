/** Sources of those who only read: the handlers of webhooks. */
import type { Cache } from "../cache/types.ts";
import { createSourceReader } from "./source-reader.ts";
import type { DeclaredSource, SourceReader } from "./types.ts";

/** Informers that are held for a reader. */
export interface OpenSources {
  readonly reader: SourceReader;
  /** All of them have been read; an optional one may be missing. */
  synced(): boolean;
  close(): void;
}

/** Opens an informer for each source, or shares one that runs. `reader` names who reads, for errors. */
export function openSources(reader: string, cache: Cache, sources: readonly DeclaredSource[]): OpenSources {
  const opened = sources.map((source) => ({ source, informer: cache.informer(source.kind, source.options) }));
  return {
    reader: createSourceReader(reader, cache, () => opened),
    synced: () =>
      opened.every(
        ({ source, informer }) =>
          informer.everSynced ||
          (source.options?.optional === true &&
            (informer.state === "waiting-for-kind" || informer.state === "forbidden")),
      ),
    close() {
      for (const { informer } of opened.splice(0)) cache.release(informer);
    },
  };
}
