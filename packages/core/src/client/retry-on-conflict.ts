/** Read, change, write, and again when somebody else wrote in between. */
import { type Clock, sleep, systemClock } from "../clock.ts";
import type { Kind, KubeObject, ObjectKey } from "../object.ts";
import { isConflict } from "./errors.ts";
import type { Client, RequestOptions } from "./types.ts";

/** Tries and the waits between them: `waitMs`, then times `factor` for each, plus up to `jitter` of it. */
export interface ConflictBackoff {
  readonly tries: number;
  readonly waitMs: number;
  readonly factor: number;
  readonly jitter: number;
}

/** For objects with a few writers: client-go's `retry.DefaultRetry`. CORE-143. */
export const CONFLICT_BACKOFF: ConflictBackoff = { tries: 5, waitMs: 10, factor: 1, jitter: 0.1 };

/** For objects that many writers contend for: client-go's `retry.DefaultBackoff`. CORE-143. */
export const CONTENDED_BACKOFF: ConflictBackoff = { tries: 4, waitMs: 10, factor: 5, jitter: 0.1 };

export interface RetryOnConflictOptions extends RequestOptions {
  /** Default {@link CONFLICT_BACKOFF}. */
  backoff?: ConflictBackoff;
  clock?: Clock;
}

/**
 * Calls `change` with the object as the server holds it now, and again with a newer one while it rejects with a
 * conflict. Every other error passes at once, and so does the conflict of the last try.
 *
 * @example
 * await retryOnConflict(client, configMaps, key, (live) =>
 *   client.update(configMaps, { ...live, data: { ...live.data, peer: "10.0.0.7" } }),
 * );
 */
export async function retryOnConflict<T extends KubeObject, R>(
  client: Pick<Client, "get">,
  kind: Kind<T>,
  key: ObjectKey,
  change: (live: T) => Promise<R>,
  options: RetryOnConflictOptions = {},
): Promise<R> {
  const { backoff = CONFLICT_BACKOFF, clock = systemClock, ...request } = options;
  let wait = backoff.waitMs;
  for (let tries = 1; ; tries++) {
    const live = await client.get(kind, key, request);
    try {
      return await change(live);
    } catch (error) {
      if (!isConflict(error) || tries >= backoff.tries) throw error;
    }
    await sleep(clock, wait * (1 + Math.random() * backoff.jitter), options.signal);
    wait *= backoff.factor;
  }
}
