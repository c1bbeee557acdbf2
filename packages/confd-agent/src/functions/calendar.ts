/** Points in time by the calendar, and the names of its months and days. */

export const MONTHS: readonly string[] = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
export const WEEKDAYS: readonly string[] = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
];

/** A point in time broken down in a zone. */
export interface Clock {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 to 999,999,999. */
  readonly nanosecond: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** From 1. */
  readonly yearDay: number;
  /** Minutes east of UTC. */
  readonly offset: number;
  /** E.g. UTC or CET. */
  readonly zone: string;
}
