/** What all reflectors of a cache know of the server: its version, and whether it does streaming lists. */
import { ApiError } from "../../client/errors.ts";
import type { Client } from "../../client/types.ts";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../observe/types.ts";

/** First minor release whose streaming lists are tried (CORE-161). */
const STREAMING_SINCE = 32;
/** First minor release that answers a list at the newest version from its watch cache (CORE-163). */
const CONSISTENT_LISTS_SINCE = 31;
/** What was learned of the server holds that long; an upgrade may change it. CORE-161. */
const REMEMBERED_MS = 30 * 60_000;

export interface Facts {
  /** Initial state may be asked for as a stream. */
  readonly streaming: boolean;
  /** Lists without a resource version are cheap and paged. */
  readonly consistentLists: boolean;
}

export interface ServerFacts {
  /** Rejects while the server cannot be reached. */
  get(): Promise<Facts>;
  /** The server refused a streaming list: none is tried for 30 min. */
  refuseStreaming(error: unknown): void;
  /** Takes the last refusal back. */
  allowStreaming(): void;
}

export function createServerFacts(options: { client: Client; clock: Clock; log: Logger }): ServerFacts {
  const { client, clock, log } = options;
  let version: { streaming: boolean; consistentLists: boolean; until: number } | undefined;
  let refusedUntil = Number.NEGATIVE_INFINITY;

  const learn = async (): Promise<{ streaming: boolean; consistentLists: boolean; until: number }> => {
    const until = clock.monotonic() + REMEMBERED_MS;
    try {
      const { major, minor } = await client.serverVersion();
      const since = (first: number): boolean => major > 1 || (major === 1 && minor >= first);
      return {
        streaming: since(STREAMING_SINCE),
        consistentLists: since(CONSISTENT_LISTS_SINCE),
        until,
      };
    } catch (error) {
      const refused =
        error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
      if (!refused) throw error;
      // A server that hides its version can still be listed in the way that all releases understand.
      return { streaming: false, consistentLists: true, until };
    }
  };

  return {
    async get() {
      if (version === undefined || clock.monotonic() >= version.until) version = await learn();
      const streaming = version.streaming && clock.monotonic() >= refusedUntil;
      return { streaming, consistentLists: version.consistentLists };
    },
    refuseStreaming(error) {
      if (clock.monotonic() < refusedUntil) return;
      refusedUntil = clock.monotonic() + REMEMBERED_MS;
      log.info("server does not do streaming lists, listing page by page", { error });
    },
    allowStreaming() {
      refusedUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
