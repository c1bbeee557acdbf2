/**
 * Secrets by name. Of all the others of the cluster nothing but metadata is held: one is fetched when something names it,
 * and again when it has changed.
 */
import type { Client, SourceReader } from "@quartet/core";
import { type ConfigObject, SECRET } from "@quartet/core/kinds";
import type { Cached } from "../kinds.ts";

/** Secrets that are remembered at most. */
const MAX_SECRETS = 5_000;

export interface Secrets {
  /** The Secret; nothing when there is none. */
  read(
    place: { readonly namespace: string; readonly name: string },
    cache: SourceReader,
  ): Promise<Cached<ConfigObject> | undefined>;
}

/** @param client reads what the cache knows the metadata of */
export function createSecrets(client: Pick<Client, "get">): Secrets {
  const known = new Map<string, { readonly version: string; readonly object: Cached<ConfigObject> }>();
  return {
    async read(place, cache) {
      const id = `${place.namespace}/${place.name}`;
      const metadata = (await cache.get(SECRET, place))?.metadata;
      if (metadata === undefined) {
        known.delete(id);
        return undefined;
      }
      const version = `${metadata.uid} ${metadata.resourceVersion}`;
      const found = known.get(id);
      if (found?.version === version) return found.object;
      const object = await client.get(SECRET, place);
      if (known.size >= MAX_SECRETS) known.clear();
      known.set(id, { version, object });
      return object;
    },
  };
}
