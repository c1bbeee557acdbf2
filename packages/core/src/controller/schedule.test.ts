import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextTime, parseSchedule } from "./schedule.ts";

const next = (schedule: string, after: string): string =>
  new Date(nextTime(parseSchedule(schedule), Date.parse(after))).toISOString();

it.each([
  ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00.000Z"],
  ["* * * * *", "2026-01-01T00:00:59.999Z", "2026-01-01T00:01:00.000Z"],
  ["*/15 * * * *", "2026-01-01T00:15:00Z", "2026-01-01T00:30:00.000Z"],
  ["5/20 * * * *", "2026-01-01T00:26:00Z", "2026-01-01T00:45:00.000Z"],
  ["30 3 * * *", "2026-01-01T03:30:00Z", "2026-01-02T03:30:00.000Z"],
  ["0 8-10,20 * * *", "2026-01-01T10:00:00Z", "2026-01-01T20:00:00.000Z"],
  ["0 0 1 * *", "2026-01-15T00:00:00Z", "2026-02-01T00:00:00.000Z"],
  ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["0 9 * * 1-5", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00.000Z"],
  ["0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00.000Z"],
  ["0 0 13 * 5", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00.000Z"],
  ["59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00.000Z"],
])("CORE-225 %s after %s comes at %s", (schedule, after, at) => {
  expect(next(schedule, after)).toBe(at);
});

describe("a schedule that cannot be read", () => {
  it.each([
    ["* * * *", /needs five fields/],
    ["60 * * * *", /minute "60" must be made of numbers from 0 to 59/],
    ["* 24 * * *", /hour "24"/],
    ["* * 0 * *", /day of month "0"/],
    ["* * * 13 *", /month "13"/],
    ["* * * * 8", /day of week "8"/],
    ["5-1 * * * *", /minute "5-1"/],
    ["*/0 * * * *", /minute "\*\/0"/],
    ["x * * * *", /minute "x"/],
    ["0 0 31 2 *", /no month has such a day/],
  ])("CORE-225 %s is refused, and the field named", (schedule, message) => {
    expect(() => parseSchedule(schedule)).toThrow(message);
  });
});

it("the next time is later, fits, and none between fits", () => {
  const minutes = fc.constantFrom("*", "*/7", "0", "30-40", "59");
  const hours = fc.constantFrom("*", "*/5", "0", "23");
  const days = fc.constantFrom("*", "1", "15,31");
  fc.assert(
    fc.property(minutes, hours, days, fc.nat(400 * 86_400), (minute, hour, day, seconds) => {
      const schedule = parseSchedule(`${minute} ${hour} ${day} * *`);
      const after = Date.UTC(2026, 0, 1) + seconds * 1000;
      const time = nextTime(schedule, after);
      expect(time).toBeGreaterThan(after);
      const date = new Date(time);
      expect(schedule.minutes.has(date.getUTCMinutes())).toBe(true);
      expect(schedule.hours.has(date.getUTCHours())).toBe(true);
      expect(schedule.days.has(date.getUTCDate())).toBe(true);
      expect(nextTime(schedule, time - 1)).toBe(time);
      expect(nextTime(schedule, Math.floor((after + time) / 2))).toBe(time);
    }),
    { numRuns: 50 },
  );
});
