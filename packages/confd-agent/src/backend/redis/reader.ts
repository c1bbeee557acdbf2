/** What is read of a Redis server for ranges, with the hashes above whose fields may be theirs. */
import { textOf } from "@quartet/go-template";
import type { Redis } from "ioredis";
import { createFollowed, type Followed } from "../followed.ts";
import type { OwnValues } from "../mirror.ts";
import type { RedisKeys } from "./keys.ts";
import { hashesAbove, readKeys, scanBelow } from "./read.ts";

export interface ReaderOptions {
  readonly keys: RedisKeys;
  /** The connection for reads. */
  readonly connection: () => Promise<Redis>;
  /** Told once of each key that is asked for itself and is neither a string nor a hash. */
  readonly onUnusable: (key: string) => void;
}

export function createReader({ keys, connection, onUnusable }: ReaderOptions): Followed {
  const told = new Set<string>();
  const above = (ranges: readonly string[]): string[] => hashesAbove(ranges, keys);
  const ownKeys = (ranges: readonly string[]): string[] =>
    ranges.filter((range) => range !== "/").map(keys.own);
  /** Reads keys, each in the way that its place asks for. */
  const read = async (owns: {
    readonly above: readonly string[];
    readonly asked: readonly string[];
    readonly below: (redis: Redis) => Promise<readonly string[]>;
  }): Promise<OwnValues> => {
    const redis = await connection();
    const fields = await readKeys(redis, owns.above, keys, { tolerant: true });
    const { values, unusable } = await readKeys(redis, owns.asked, keys);
    for (const key of unusable) {
      if (!told.has(key)) onUnusable(textOf(key));
      told.add(key);
    }
    const below = await readKeys(redis, await owns.below(redis), keys);
    return new Map([...fields.values, ...values, ...below.values]);
  };
  return createFollowed({
    logical: keys.logical,
    above,
    readAll: (ranges, signal) =>
      read({
        above: above(ranges),
        asked: ownKeys(ranges),
        below: (redis) => scanBelow(redis, ranges, keys, signal),
      }),
    readOwns: (owns, ranges) => {
      const fields = new Set(above(ranges));
      const asked = new Set(ownKeys(ranges));
      return read({
        above: owns.filter((own) => fields.has(own)),
        asked: owns.filter((own) => asked.has(own)),
        below: async () => owns.filter((own) => !fields.has(own) && !asked.has(own)),
      });
    },
  });
}
