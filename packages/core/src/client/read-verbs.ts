/** get, list, pages and watch. */
import { apiVersionOf, type Kind, type KubeList, type KubeObject, type ObjectKey } from "../object.ts";
import { jsonBody } from "./answer-body.ts";
import type { ApiRequest } from "./attempts.ts";
import { ConnectionError } from "./errors.ts";
import { describe, TOO_LARGE } from "./exchange.ts";
import { collectionPath, objectPath, queryString } from "./paths.ts";
import {
  effectiveKey,
  effectiveNamespace,
  JSON_TYPE,
  METADATA_LIST_TYPE,
  METADATA_TYPE,
  poolOf,
  type Session,
} from "./session.ts";
import type { Client, GetOptions, ListOptions, WatchEvent, WatchOptions } from "./types.ts";
import { createWatchDecoder, WatchFormatError } from "./watch-decoder.ts";

/** Page size of lists: client-go's pager default. CORE-163. */
const PAGE_LIMIT = 500;

/**
 * Longest page that is taken in, in bytes: 500 pods have some 4 MiB. A longer one, such as 500 ConfigMaps of 1 MiB, is
 * given up and asked for again with fewer objects. CORE-194.
 */
const PAGE_BYTES = 16 * 1024 * 1024;
const PAGE_SHRINKS_BY = 8;

export type ReadVerbs = Pick<Client, "get" | "list" | "pages" | "watch" | "getSubresource">;

export function readVerbs(session: Session): ReadVerbs {
  const read = async (
    verb: string,
    kind: Kind,
    path: string,
    accept: string,
    options: GetOptions,
    maxBytes?: number,
  ) => {
    const request = { ...common(session, options), verb, path, pool: poolOf(kind), accept, maxBytes };
    return jsonBody(request, await session.requester.send(request));
  };

  const pages = async function* <T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions = {},
  ): AsyncGenerator<KubeList<T>> {
    const accept = options.metadataOnly ? METADATA_LIST_TYPE : JSON_TYPE;
    let token = options.continue;
    let limit = options.limit ?? PAGE_LIMIT;
    // A list that is asked for in one answer cannot be made smaller.
    const maxBytes = limit === 0 ? undefined : PAGE_BYTES;
    for (;;) {
      const path = listPath(session, kind, options, limit, token);
      let page: KubeList<T>;
      try {
        const bytes = limit === 1 ? undefined : maxBytes;
        page = (await read("list", kind, path, accept, options, bytes)) as KubeList<T>;
      } catch (error) {
        if (!(error instanceof ConnectionError) || error.code !== TOO_LARGE) throw error;
        limit = Math.max(1, Math.floor(limit / PAGE_SHRINKS_BY));
        continue;
      }
      page.items = withTypes(page, kind);
      token = page.metadata.continue;
      yield page;
      if (token === undefined || token === "") return;
    }
  };

  return {
    async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
      const path = objectPath(kind, effectiveKey(session, kind, key));
      const query = queryString({ resourceVersion: options.resourceVersion });
      const accept = options.metadataOnly ? METADATA_TYPE : JSON_TYPE;
      return (await read("get", kind, path + query, accept, options)) as T;
    },
    async getSubresource<T extends KubeObject>(
      kind: Kind,
      key: ObjectKey,
      subresource: string,
      options: GetOptions = {},
    ): Promise<T> {
      const path = objectPath(kind, effectiveKey(session, kind, key), subresource);
      return (await read("get", kind, path, JSON_TYPE, options)) as T;
    },
    async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<KubeList<T>> {
      let whole: KubeList<T> | undefined;
      for await (const page of pages(kind, options)) {
        if (whole === undefined) whole = page;
        else {
          for (const item of page.items) whole.items.push(item);
          whole.metadata = page.metadata;
        }
      }
      // The generator yields at least one page or throws.
      return whole as KubeList<T>;
    },
    pages,
    watch: (kind, options) => watch(session, kind, options),
  };
}

function common(
  session: Session,
  options: GetOptions,
): Omit<ApiRequest, "verb" | "path" | "pool" | "accept"> {
  return {
    method: "GET",
    userAgent: session.userAgent,
    repeatable: "reads",
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  };
}

/** The server refuses a resource version beside a continue token: the token carries it. */
function listPath(
  session: Session,
  kind: Kind,
  options: ListOptions,
  limit: number,
  token: string | undefined,
): string {
  const first = token === undefined;
  return (
    collectionPath(kind, effectiveNamespace(session, kind, options.namespace)) +
    queryString({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: limit === 0 ? undefined : limit,
      continue: token,
      resourceVersion: first ? options.resourceVersion : undefined,
      resourceVersionMatch: first ? options.resourceVersionMatch : undefined,
    })
  );
}

/** Items of built-in lists carry no apiVersion and kind; an object without them is no use to a caller. */
function withTypes<T extends KubeObject>(page: KubeList<T>, kind: Kind<T>): T[] {
  const items = page.items ?? [];
  if (items.length === 0 || items[0]?.kind !== undefined) return items;
  const apiVersion = apiVersionOf(kind);
  return items.map((item) => ({ apiVersion, kind: kind.kind, ...(item as object) }) as T);
}

async function* watch<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const path =
    collectionPath(kind, effectiveNamespace(session, kind, options.namespace)) +
    queryString({
      watch: true,
      allowWatchBookmarks: true,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      sendInitialEvents: options.sendInitialEvents,
      resourceVersionMatch: options.sendInitialEvents ? "NotOlderThan" : undefined,
    });
  const request: ApiRequest = {
    ...common(session, options),
    verb: "watch",
    path,
    pool: "watches",
    accept: options.metadataOnly ? METADATA_TYPE : JSON_TYPE,
    // Only a socket that was closed while idle is replaced here; the caller decides about everything else.
    repeatable: "idempotent",
  };
  const stream = await session.requester.open(request);
  const decoder = createWatchDecoder<T>();
  try {
    options.onBytes?.();
    for await (const chunk of stream.response) {
      options.onBytes?.();
      yield* decoder.push(chunk as Buffer);
    }
    yield* decoder.end();
  } catch (error) {
    throw error instanceof WatchFormatError
      ? error
      : describe(error, { method: "GET", path, signal: options.signal });
  } finally {
    stream.close();
  }
}
