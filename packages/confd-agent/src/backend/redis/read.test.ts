/** Scans of Redis that bring very much, or do not end. */
import { setImmediate as turn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import { redisKeys } from "./keys.ts";
import { scanBelow } from "./read.ts";

const keys = redisKeys("", false);
/** A server whose scans give these pages, each with the cursor of the next. */
const scanning = (page: (cursor: string) => readonly [next: string, keys: readonly string[]]): Redis => {
  const callBuffer = async (_scan: string, cursor: string): Promise<[Buffer, Buffer[]]> => {
    await turn();
    const [next, found] = page(cursor);
    return [Buffer.from(next), found.map((key) => Buffer.from(key))];
  };
  return { callBuffer } as unknown as Redis;
};

it("CONFD-REDIS-4 a range may have more keys than a call takes arguments", async () => {
  const all = Array.from({ length: 200_000 }, (_, index) => `/a/${index}`);
  const found = await scanBelow(
    scanning(() => ["0", all]),
    ["/a"],
    keys,
    new AbortController().signal,
  );
  expect(found).toHaveLength(all.length);
});

it("CONFD-REDIS-9 a scan that nobody waits for any more ends", async () => {
  const stop = new AbortController();
  let pages = 0;
  const redis = scanning(() => {
    pages += 1;
    if (pages === 3) stop.abort();
    return [pages < 100 ? "1" : "0", []];
  });
  await expect(scanBelow(redis, ["/a"], keys, stop.signal)).rejects.toThrow("aborted");
  expect(pages).toBe(3);
});
