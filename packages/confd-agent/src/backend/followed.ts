/** Reads of a server that tells of changed keys, and of nothing else: as a whole, or the keys that it told of. */
import { type Snapshot, within } from "./backend.ts";
import { createMirror, type MirrorOptions, merged, type OwnValues } from "./mirror.ts";

/** A read that a change came into is done again, so often. */
const MAX_REREADS = 3;

export interface FollowedOptions extends MirrorOptions {
  /** Reads all of the ranges. */
  readonly readAll: (ranges: readonly string[], signal: AbortSignal) => Promise<OwnValues>;
  /** Reads keys of the server that belong to the ranges, which are those that are followed. */
  readonly readOwns: (
    owns: readonly string[],
    ranges: readonly string[],
    signal: AbortSignal,
  ) => Promise<OwnValues>;
}

export interface ReadFollowed {
  readonly signal: AbortSignal;
  /** The ranges are of concern for changes alone that were told. */
  readonly changed: boolean;
}

export interface Followed {
  /**
   * A key of the server was changed; the number of the change, which a later read has in its `revision`, or nothing where
   * the server may not tell of all.
   */
  told(own: string): number | undefined;
  /** All changes of these ranges are told from now on, on a connection that answers behind what it told. */
  follow(ranges: readonly string[], answered: () => Promise<unknown>): void;
  unfollow(): void;
  /** Keys may have changed that nothing was told of: what is known of them does not count any more. */
  forget(): void;
  read(ranges: readonly string[], options: ReadFollowed): Promise<Snapshot>;
}

export function createFollowed({ readAll, readOwns, ...options }: FollowedOptions): Followed {
  const mirror = createMirror(options);
  let answered: (() => Promise<unknown>) | undefined;
  let followed: readonly string[] = [];
  /** The last refresh: one ends before the next begins, so that no older answer comes after a newer one. */
  let refreshing: Promise<unknown> = Promise.resolve();

  const readWhole = async (ranges: readonly string[], signal: AbortSignal): Promise<Snapshot> => {
    for (let tries = 0; ; tries++) {
      const since = mirror.count();
      const read = await readAll(ranges, signal);
      mirror.fill(ranges, read, since);
      if (mirror.count() !== since && tries < MAX_REREADS) continue;
      const values = merged(read, within(ranges));
      return { values, ...(answered === undefined ? {} : { revision: since }) };
    }
  };
  /** Reads what was told to have changed; the number of changes that are seen then. */
  const refresh = async (ranges: readonly string[], signal: AbortSignal): Promise<number> => {
    const since = mirror.count();
    const owns = mirror.stale(ranges) ?? [];
    // What a key is to other ranges than those of this read counts too: all of them are told of it at once.
    mirror.refresh(owns, await readOwns(owns, followed, signal), since);
    return since;
  };
  const readChanged = async (
    ranges: readonly string[],
    signal: AbortSignal,
  ): Promise<Snapshot | undefined> => {
    let seen = 0;
    for (let tries = 0; answered !== undefined; tries++) {
      // What was changed together is told together: all of it has come before this answer.
      await answered();
      const stale = mirror.stale(ranges);
      if (stale === undefined) return undefined;
      if (stale.length === 0) seen = mirror.count();
      if (stale.length === 0 || tries > MAX_REREADS) return { values: mirror.values(ranges), revision: seen };
      const next = refreshing.then(() => refresh(ranges, signal));
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
      followed = ranges;
      answered = isAnswered;
    },
    unfollow: () => {
      mirror.stop();
      answered = undefined;
    },
    forget: () => {
      if (answered === undefined) return;
      mirror.stop();
      mirror.start(followed);
    },
    read: async (ranges, { changed, signal }) =>
      (changed ? await readChanged(ranges, signal) : undefined) ?? (await readWhole(ranges, signal)),
  };
}
