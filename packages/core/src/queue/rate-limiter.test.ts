import { expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { bucketLimiter, defaultRateLimiter, exponentialBackoff, maxOf } from "./rate-limiter.ts";

it("CORE-207 doubles 5 ms with each failure of a key, up to 1 000 s", () => {
  const limiter = exponentialBackoff();
  const delays = Array.from({ length: 20 }, () => limiter.delayFor("a"));
  expect(delays.slice(0, 3)).toEqual([5, 10, 20]);
  expect([delays[10], delays[17], delays[18], delays[19]]).toEqual([5120, 655_360, 1_000_000, 1_000_000]);
  expect(limiter.delayFor("b")).toBe(5);
});

it("CORE-208 a forgotten key starts anew", () => {
  const limiter = defaultRateLimiter(fakeClock());
  for (let i = 0; i < 5; i += 1) limiter.delayFor("a");
  expect(limiter.failures("a")).toBe(5);
  limiter.forget("a");
  expect(limiter.failures("a")).toBe(0);
  expect(limiter.delayFor("a")).toBe(5);
});

it("CORE-207 the bucket holds 100 and gets 10 a second; what it owes is paid back in time", async () => {
  const clock = fakeClock();
  const limiter = bucketLimiter(clock);
  const delays = Array.from({ length: 102 }, (_, index) => limiter.delayFor(`k${index}`));
  expect(delays.slice(98)).toEqual([0, 0, 100, 200]);
  await clock.advance(200);
  expect(limiter.delayFor("x")).toBe(100);
  await clock.advance(60_000);
  expect(Array.from({ length: 101 }, () => limiter.delayFor("x")).slice(99)).toEqual([0, 100]);
});

it("CORE-207 of two limiters the longer delay wins", () => {
  const fixed = (ms: number) => ({ delayFor: () => ms, failures: () => ms, forget: () => {} });
  const limiter = maxOf(fixed(3), fixed(40), fixed(7));
  expect(limiter.delayFor("a")).toBe(40);
  expect(limiter.failures("a")).toBe(40);
});
