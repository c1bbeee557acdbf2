/** Numbers that may be percentages (DSP-310, 733, 736, 802). */

/** A number, or a percentage such as `50%`. */
export type IntOrPercent = number | string;

const PERCENT = /^[0-9]{1,3}%$/;

/** True for a whole number of at least 0, and for `0%` to `100%`. */
export function isIntOrPercent(value: unknown): value is IntOrPercent {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0;
  return typeof value === "string" && PERCENT.test(value) && Number.parseInt(value, 10) <= 100;
}

/** The number that is meant of so many; 0 for what is no number. */
export function scaled(value: IntOrPercent, total: number, round: "up" | "down"): number {
  if (!isIntOrPercent(value)) return 0;
  if (typeof value === "number") return value;
  const exact = Number.parseInt(value, 10) * total;
  return round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}
