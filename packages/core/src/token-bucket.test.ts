import { expect, it } from "vitest";
import { fakeClock } from "./testkit/fake-clock.ts";
import { createTokenBucket } from "./token-bucket.ts";

it("CORE-112 CORE-207 fills up to the burst only, and lets through what it gains in a second", async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket(10, 2, clock);
  await clock.advance(60_000);
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 100, 200]);
  await clock.advance(300);
  expect([bucket.reserve(), bucket.reserve()]).toEqual([0, 100]);
});

it("CORE-247 a wait that is aborted rejects and gives its token back", async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket(1, 1, clock);
  expect(await bucket.take()).toBe(0);
  const stop = new AbortController();
  const aborted = expect(bucket.take(stop.signal)).rejects.toThrow("enough");
  stop.abort(new Error("enough"));
  await aborted;
  const next = bucket.take();
  await clock.advance(1_000);
  expect(await next).toBe(1_000);
});
