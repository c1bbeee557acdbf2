/** What is read of a Redis server: which keys there are, and the values of strings and hashes. */
import type { Redis } from "ioredis";
import { within } from "../backend.ts";
import { escaped, type RedisKeys } from "./keys.ts";

/** Keys that the server looks at in one step of a scan. */
const SCAN_COUNT = 1000;
/** So many ranges have a scan of their own each, which brings no other keys. */
const FEW_RANGES = 8;
/** Commands of one pipeline. */
const PIPELINE = 500;

/** Keys below the ranges. A scan goes through all keys of the server: many ranges share one, and choose. */
export async function scanBelow(
  redis: Redis,
  ranges: readonly string[],
  keys: RedisKeys,
  signal: AbortSignal,
): Promise<string[]> {
  if (ranges.length <= FEW_RANGES) {
    const found: string[] = [];
    for (const range of ranges)
      for (const key of await scan(redis, keys.below(range), signal)) found.push(key);
    return found;
  }
  const isAsked = within(ranges);
  const found = await scan(redis, `${escaped(commonStart(ranges.map((range) => keys.own(range))))}*`, signal);
  return [...found].filter((key) => isAsked(keys.logical(key)));
}

/** What all of the texts begin with. */
function commonStart(texts: readonly string[]): string {
  let start = texts[0] ?? "";
  for (const text of texts) while (!text.startsWith(start)) start = start.slice(0, -1);
  return start;
}

async function scan(redis: Redis, pattern: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    // Nobody waits for it any more: the next try would go through all keys beside it.
    signal.throwIfAborted();
    const [next, page] = (await redis.callBuffer(
      "SCAN",
      cursor,
      "MATCH",
      Buffer.from(pattern, "latin1"),
      "COUNT",
      SCAN_COUNT,
    )) as [Buffer, Buffer[]];
    for (const key of page) found.add(key.toString("latin1"));
    cursor = next.toString();
  } while (cursor !== "0");
  return found;
}

/** The server's keys above the ranges: a range may be a field of a hash. */
export function hashesAbove(ranges: readonly string[], keys: RedisKeys): string[] {
  const above = new Set<string>();
  for (const range of ranges) {
    for (let at = range.lastIndexOf("/"); at > 0; at = range.lastIndexOf("/", at - 1))
      above.add(keys.own(range.slice(0, at)));
  }
  return [...above];
}

/** The server answered, with an error. */
export const isReply = (error: unknown): boolean => error instanceof Error && error.name === "ReplyError";

/** What was read of keys of the server. */
export interface Read {
  /** Values by logical key, for each key of the server that has any. */
  readonly values: Map<string, ReadonlyMap<string, string>>;
  /** Keys that are neither strings nor hashes. */
  readonly unusable: readonly string[];
}

/** Reads strings and hashes, or hashes alone where some may be refused. */
export async function readKeys(
  redis: Redis,
  owns: readonly string[],
  keys: RedisKeys,
  { tolerant = false }: { tolerant?: boolean } = {},
): Promise<Read> {
  const unusable: string[] = [];
  const values: Read["values"] = new Map();
  for (let at = 0; at < owns.length; at += PIPELINE) {
    const part = owns.slice(at, at + PIPELINE);
    const types = await pipelined<string | null>(redis, part, "type", tolerant);
    const strings = part.filter((_, index) => !tolerant && types[index] === "string");
    const hashes = part.filter((_, index) => types[index] === "hash");
    unusable.push(...part.filter((_, index) => !["string", "hash", "none", null].includes(types[index]!)));
    for (const [index, value] of (await pipelined<Buffer | null>(redis, strings, "getBuffer")).entries()) {
      const own = strings[index]!;
      if (value !== null) values.set(own, new Map([[keys.logical(own), value.toString("latin1")]]));
    }
    for (const [index, fields] of (
      await pipelined<Record<string, Buffer> | null>(redis, hashes, "hgetallBuffer", tolerant)
    ).entries()) {
      const below = keys.logical(hashes[index]!);
      const named = Object.entries(fields ?? {}).map(([field, value]): [string, string] => [
        `${below}/${Buffer.from(field, "utf8").toString("latin1")}`,
        value.toString("latin1"),
      ]);
      if (named.length > 0) values.set(hashes[index]!, new Map(named));
    }
  }
  return { values, unusable };
}

type Command = "type" | "getBuffer" | "hgetallBuffer";

/** One command for each key, in one round trip. */
async function pipelined<T>(
  redis: Redis,
  own: readonly string[],
  command: Command,
  tolerant = false,
): Promise<T[]> {
  if (own.length === 0) return [];
  const pipeline = redis.pipeline();
  for (const key of own) pipeline[command](Buffer.from(key, "latin1"));
  const results = (await pipeline.exec()) ?? [];
  return results.map(([error, value]) => {
    // Between the question for its type and this one a key may have become another: the next event reads again.
    const isRefused = tolerant && error !== null && isReply(error);
    if (error !== null && !isRefused && !error.message.startsWith("WRONGTYPE")) throw error;
    return (error === null ? value : null) as T;
  });
}
