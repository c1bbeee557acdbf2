import { describe, expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createExpectations } from "./expectations.ts";

describe("expectations", () => {
  it("CORE-187 are satisfied when as many adds and deletes were observed as expected", () => {
    const expectations = createExpectations(fakeClock());
    expect(expectations.satisfied("a/x")).toBe(true);
    expectations.expect("a/x", { adds: 2, dels: 1 });
    expectations.observed("a/x", { adds: 2 });
    expect(expectations.satisfied("a/x")).toBe(false);
    expect(expectations.satisfied("a/y")).toBe(true);
    expectations.observed("a/x", { dels: 1 });
    expect(expectations.satisfied("a/x")).toBe(true);
    expect(expectations.size).toBe(0);
  });

  it("CORE-187 expire after 5 min without being met", async () => {
    const clock = fakeClock();
    const expectations = createExpectations(clock);
    expectations.expect("a/x", { adds: 1 });
    await clock.advance(300_000);
    expect(expectations.satisfied("a/x")).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied("a/x")).toBe(true);
    expect(expectations.size).toBe(0);
  });

  it("add up while they are open, and do not add to expired ones", async () => {
    const clock = fakeClock();
    const expectations = createExpectations(clock);
    expectations.expect("a/x", { adds: 1 });
    expectations.expect("a/x", { adds: 1 });
    expectations.observed("a/x", { adds: 1 });
    expect(expectations.satisfied("a/x")).toBe(false);
    await clock.advance(300_001);
    expectations.expect("a/x", { adds: 1 });
    expectations.observed("a/x", { adds: 1 });
    expect(expectations.satisfied("a/x")).toBe(true);
  });

  it("take more events than expected, and events of nobody, without harm", () => {
    const expectations = createExpectations(fakeClock());
    expectations.observed("a/x", { adds: 5 });
    expectations.expect("a/x", { adds: 1, dels: 1 });
    expectations.observed("a/x", { adds: 3 });
    expect(expectations.satisfied("a/x")).toBe(false);
    expectations.forget("a/x");
    expect(expectations.satisfied("a/x")).toBe(true);
    expectations.expect("a/x", {});
    expect(expectations.size).toBe(0);
  });
});
