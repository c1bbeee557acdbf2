/** Reads ranges: as a whole, or the keys alone that the server told of. */
import { textOf } from "@quartet/go-template";
import type { Redis } from "ioredis";
import { type Snapshot, within } from "../backend.ts";
import type { RedisKeys } from "./keys.ts";
import { createMirror, type Mirror, merged, type OwnValues } from "./mirror.ts";
import { hashesAbove, readKeys, scanBelow } from "./read.ts";

/** A read that a change came into is done again, so often. */
const MAX_REREADS = 3;

export interface ReaderOptions {
  readonly keys: RedisKeys;
  /** The connection for reads. */
  readonly connection: () => Promise<Redis>;
  /** Told once of each key that is asked for itself and is neither a string nor a hash. */
  readonly onUnusable: (key: string) => void;
}

export interface Reader {
  /**
   * A key of the server was changed; the number of the change, which a later read has in its `revision`, or nothing where
   * the server may not tell of all.
   */
  told(own: string): number | undefined;
  /** The server tells of all changes of these ranges from now on, on a connection that answers behind them. */
  follow(ranges: readonly string[], answered: () => Promise<unknown>): void;
  unfollow(): void;
  /** Reads; where changes were told alone (`changed`) no more than these. */
  read(ranges: readonly string[], options: { readonly changed: boolean }): Promise<Snapshot>;
}

export function createReader({ keys, connection, onUnusable }: ReaderOptions): Reader {
  const mirror: Mirror = createMirror({
    logical: keys.logical,
    above: (ranges) => hashesAbove(ranges, keys),
  });
  const toldTypes = new Set<string>();
  let answered: (() => Promise<unknown>) | undefined;
  /** The last refresh: one ends before the next begins, so that no older answer comes after a newer one. */
  let refreshing: Promise<unknown> = Promise.resolve();

  const ownKeys = (ranges: readonly string[]): string[] =>
    ranges.filter((range) => range !== "/").map(keys.own);
  const readAbove = async (redis: Redis, owns: readonly string[]): Promise<OwnValues> =>
    (await readKeys(redis, owns, keys, { tolerant: true })).values;
  const readAsked = async (redis: Redis, owns: readonly string[]): Promise<OwnValues> => {
    const { values, unusable } = await readKeys(redis, owns, keys);
    for (const key of unusable) if (!toldTypes.has(key)) onUnusable(textOf(key));
    for (const key of unusable) toldTypes.add(key);
    return values;
  };
  const readBelow = async (redis: Redis, owns: readonly string[]): Promise<OwnValues> =>
    (await readKeys(redis, owns, keys)).values;

  const readAll = async (ranges: readonly string[]): Promise<Snapshot> => {
    for (let tries = 0; ; tries++) {
      const redis = await connection();
      const since = mirror.count();
      const read = new Map([
        ...(await readAbove(redis, hashesAbove(ranges, keys))),
        ...(await readAsked(redis, ownKeys(ranges))),
        ...(await readBelow(redis, await scanBelow(redis, ranges, keys))),
      ]);
      mirror.fill(ranges, read, since);
      if (mirror.count() !== since && tries < MAX_REREADS) continue;
      const values = merged(read, within(ranges));
      return { values, ...(answered === undefined ? {} : { revision: since }) };
    }
  };
  /** Reads what was told to have changed; the number of changes that are seen then. */
  const refresh = async (ranges: readonly string[]): Promise<number> => {
    const since = mirror.count();
    const owns = mirror.stale(ranges) ?? [];
    const above = new Set(hashesAbove(ranges, keys));
    const asked = new Set(ownKeys(ranges));
    const below = owns.filter((own) => !above.has(own) && !asked.has(own));
    const redis = await connection();
    const read = new Map([
      ...(await readAbove(
        redis,
        owns.filter((own) => above.has(own)),
      )),
      ...(await readAsked(
        redis,
        owns.filter((own) => asked.has(own)),
      )),
      ...(await readBelow(redis, below)),
    ]);
    mirror.refresh(owns, read, since);
    return since;
  };
  const readChanged = async (ranges: readonly string[]): Promise<Snapshot | undefined> => {
    let seen = 0;
    for (let tries = 0; answered !== undefined; tries++) {
      // What was changed together is told together: all of it has come before this answer.
      await answered();
      const stale = mirror.stale(ranges);
      if (stale === undefined) return undefined;
      if (stale.length === 0) seen = mirror.count();
      if (stale.length === 0 || tries > MAX_REREADS) return { values: mirror.values(ranges), revision: seen };
      const next = refreshing.then(() => refresh(ranges));
      refreshing = next.catch(() => {});
      seen = await next;
    }
    return undefined;
  };
  return {
    told: (own) => {
      const number = mirror.told(own);
      return answered === undefined ? undefined : number;
    },
    follow: (ranges, isAnswered) => {
      mirror.start(ranges);
      answered = isAnswered;
    },
    unfollow: () => {
      mirror.stop();
      answered = undefined;
    },
    read: async (ranges, { changed }) =>
      (changed ? await readChanged(ranges) : undefined) ?? (await readAll(ranges)),
  };
}
