/** A reconcile's context for tests that call a reconcile by hand. */
import { isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { ReconcileContext, SourceReader } from "../controller/types.ts";
import type { DeepReadonly } from "../object.ts";
import type { Logger } from "../observe/types.ts";

const SILENT: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
  with: () => SILENT,
  named: () => SILENT,
};

/**
 * Context whose cache reads through `reads`, live, and whose writes go through `client`. Log lines and events go
 * nowhere unless `more` says otherwise. With {@link crashAtEveryCall} the reads are the world's client, as cached reads
 * are no calls.
 */
export function testContext(
  client: Client,
  reads: Client,
  more: Partial<ReconcileContext> = {},
): ReconcileContext {
  return {
    signal: new AbortController().signal,
    log: SILENT,
    reconcileID: "00000000-0000-4000-8000-000000000000",
    client,
    cache: liveCache(reads),
    events: { record: () => {} },
    priority: 0,
    attempt: 0,
    features: {},
    ...more,
  };
}

/** Cache without sources: each read asks the server. */
export function liveCache(client: Client): SourceReader {
  return {
    source(kind) {
      throw new Error(`a live cache has no source of ${kind.plural}; use get and list`);
    },
    referred(kind) {
      throw new Error(`a live cache has no references to ${kind.plural}; use get and list`);
    },
    byIndex(kind, index) {
      throw new Error(`a live cache has no index ${index} of ${kind.plural}; use get and list`);
    },
    get: (kind, key) =>
      (client.get(kind, key) as Promise<never>).catch((error) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    async list(kind, { namespace, labels = {} } = {}) {
      const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
      const { items } = await client.list(kind, {
        ...(namespace !== undefined && { namespace }),
        ...(selector.length > 0 && { labelSelector: selector.join(",") }),
      });
      return items as unknown as DeepReadonly<(typeof items)[number]>[];
    },
  };
}
