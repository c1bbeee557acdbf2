import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { createBell } from "./bell.ts";

const LONGEST_MS = 30_000;
const NEVER = new AbortController().signal;

it("TARS-LV-009 what changes while the agent is at work is looked at right after", async () => {
  const clock = fakeClock();
  const bell = createBell(clock);
  bell.silence();
  bell.ring();
  await bell.rung(LONGEST_MS, NEVER);
  expect(clock.pending).toBe(0);
});

it("TARS-LV-008 a silent bell ends the wait after the longest time", async () => {
  const clock = fakeClock();
  const bell = createBell(clock);
  bell.ring();
  bell.silence();
  let over = false;
  const wait = bell.rung(LONGEST_MS, NEVER).then(() => {
    over = true;
  });
  await clock.advance(LONGEST_MS - 1);
  expect(over).toBe(false);
  await clock.advance(1);
  await wait;
});
