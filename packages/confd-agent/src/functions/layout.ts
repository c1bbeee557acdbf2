/** Go's layouts of times: the reference time `Mon Jan 2 15:04:05 MST 2006` written as the text shall read. */
import { type Clock, MONTHS, WEEKDAYS } from "./calendar.ts";

/** How a time prints itself. */
export const LAYOUT_STRING = "2006-01-02 15:04:05.999999999 -0700 MST";

const pad = (value: number, digits: number, by = "0"): string => String(value).padStart(digits, by);
const hour12 = ({ hour }: Clock): number => (hour % 12 === 0 ? 12 : hour % 12);

function offset({ offset: minutes }: Clock, separator: string, parts: 1 | 2 | 3): string {
  const absolute = Math.abs(minutes);
  const sign = minutes < 0 ? "-" : "+";
  const fields = [pad(Math.floor(absolute / 60), 2), pad(absolute % 60, 2), "00"].slice(0, parts);
  return sign + fields.join(separator);
}
const zulu = (clock: Clock, separator: string, parts: 1 | 2 | 3): string =>
  clock.offset === 0 ? "Z" : offset(clock, separator, parts);

/** Elements of layouts, longer ones before those that they begin with. */
const ELEMENTS: readonly (readonly [string, (clock: Clock) => string])[] = [
  ["January", ({ month }) => MONTHS[month - 1]!],
  ["Jan", ({ month }) => MONTHS[month - 1]!.slice(0, 3)],
  ["Monday", ({ weekday }) => WEEKDAYS[weekday]!],
  ["Mon", ({ weekday }) => WEEKDAYS[weekday]!.slice(0, 3)],
  ["MST", ({ zone }) => zone],
  ["002", ({ yearDay }) => pad(yearDay, 3)],
  ["01", ({ month }) => pad(month, 2)],
  ["02", ({ day }) => pad(day, 2)],
  ["03", (clock) => pad(hour12(clock), 2)],
  ["04", ({ minute }) => pad(minute, 2)],
  ["05", ({ second }) => pad(second, 2)],
  ["06", ({ year }) => pad(year % 100, 2)],
  ["15", ({ hour }) => pad(hour, 2)],
  ["1", ({ month }) => String(month)],
  ["2006", ({ year }) => pad(year, 4)],
  ["2", ({ day }) => String(day)],
  ["__2", ({ yearDay }) => pad(yearDay, 3, " ")],
  ["_2006", ({ year }) => `_${pad(year, 4)}`],
  ["_2", ({ day }) => pad(day, 2, " ")],
  ["3", (clock) => String(hour12(clock))],
  ["4", ({ minute }) => String(minute)],
  ["5", ({ second }) => String(second)],
  ["PM", ({ hour }) => (hour >= 12 ? "PM" : "AM")],
  ["pm", ({ hour }) => (hour >= 12 ? "pm" : "am")],
  ["-07:00:00", (clock) => offset(clock, ":", 3)],
  ["-07:00", (clock) => offset(clock, ":", 2)],
  ["-070000", (clock) => offset(clock, "", 3)],
  ["-0700", (clock) => offset(clock, "", 2)],
  ["-07", (clock) => offset(clock, "", 1)],
  ["Z07:00:00", (clock) => zulu(clock, ":", 3)],
  ["Z07:00", (clock) => zulu(clock, ":", 2)],
  ["Z070000", (clock) => zulu(clock, "", 3)],
  ["Z0700", (clock) => zulu(clock, "", 2)],
  ["Z07", (clock) => zulu(clock, "", 1)],
];
/** `Jan` within a longer word of small letters is none. */
const isWordGoingOn = (layout: string, at: number): boolean => /[a-z]/.test(layout[at] ?? "");

/** Writes a time in the layout; byte strings. */
export function formatLayout(layout: string, clock: Clock): string {
  const parts: string[] = [];
  for (let at = 0; at < layout.length; ) {
    const fraction = fractionAt(layout, at);
    if (fraction > 0) {
      parts.push(writtenFraction(layout.slice(at, at + fraction + 1), clock));
      at += fraction + 1;
      continue;
    }
    const element = ELEMENTS.find(
      ([text]) => layout.startsWith(text, at) && !(text === "Jan" && isWordGoingOn(layout, at + text.length)),
    );
    parts.push(element === undefined ? layout.charAt(at) : element[1](clock));
    at += element === undefined ? 1 : element[0].length;
  }
  return parts.join("");
}

/** How many zeros or nines of a fraction of a second stand behind a point or comma here. */
function fractionAt(layout: string, at: number): number {
  const digit = layout[at + 1];
  if ((layout[at] !== "." && layout[at] !== ",") || (digit !== "0" && digit !== "9")) return 0;
  let end = at + 1;
  while (layout[end] === digit) end += 1;
  return /[0-9]/.test(layout[end] ?? "") ? 0 : end - at - 1;
}

/** `.000` keeps its zeros, `.999` drops those at the end. */
function writtenFraction(element: string, { nanosecond }: Clock): string {
  const digits = pad(nanosecond, 9).slice(0, element.length - 1);
  if (element[1] === "0") return element.charAt(0) + digits;
  const short = digits.replace(/0+$/, "");
  return short === "" ? "" : element.charAt(0) + short;
}
