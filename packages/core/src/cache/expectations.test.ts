import { describe, expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createExpectations } from "./expectations.ts";

describe("expectations", () => {
  it("CORE-187 are satisfied when as many creations and all deletions were observed as expected", () => {
    const expectations = createExpectations(fakeClock());
    expect(expectations.satisfied("a/x")).toBe(true);
    expectations.expectCreations("a/x", 2);
    expectations.expectDeletions("a/x", ["u1"]);
    expectations.created("a/x", 2);
    expect(expectations.satisfied("a/x")).toBe(false);
    expect(expectations.satisfied("a/y")).toBe(true);
    expectations.deleted("a/x", "u1");
    expect(expectations.satisfied("a/x")).toBe(true);
    expect(expectations.size).toBe(0);
  });

  it("CORE-187 deletions are told apart by UID: others and repeats count for nothing", () => {
    const expectations = createExpectations(fakeClock());
    expectations.expectDeletions("a/x", ["u1", "u2"]);
    for (const uid of ["u1", "u1", "stranger"]) expectations.deleted("a/x", uid);
    expect(expectations.satisfied("a/x")).toBe(false);
    expectations.deleted("a/x", "u2");
    expect(expectations.satisfied("a/x")).toBe(true);
  });

  it("CORE-187 expire after 5 min without being met", async () => {
    const clock = fakeClock();
    const expectations = createExpectations(clock);
    expectations.expectCreations("a/x", 1);
    await clock.advance(300_000);
    expect(expectations.satisfied("a/x")).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied("a/x")).toBe(true);
    expect(expectations.size).toBe(0);
  });

  it("add up while they are open, and do not add to expired ones", async () => {
    const clock = fakeClock();
    const expectations = createExpectations(clock);
    expectations.expectCreations("a/x", 1);
    expectations.expectCreations("a/x", 1);
    expectations.created("a/x");
    expect(expectations.satisfied("a/x")).toBe(false);
    await clock.advance(300_001);
    expectations.expectCreations("a/x", 1);
    expectations.created("a/x");
    expect(expectations.satisfied("a/x")).toBe(true);
  });

  it("CORE-210 nothing is kept of keys that nothing is awaited for", () => {
    const expectations = createExpectations(fakeClock());
    expectations.expectCreations("a/x", 0);
    expectations.expectDeletions("a/x", []);
    expectations.created("a/x");
    expectations.expectCreations("a/y", 1);
    expectations.forget("a/y");
    expect(expectations.size).toBe(0);
  });
});
