/** Durations. */

/** Nanoseconds of each unit that Go's `time.ParseDuration` knows. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Greatest magnitude of a Go duration, in nanoseconds. */
const MAX_NANOSECONDS = 2 ** 63;

/** Nanoseconds of a Go duration text such as `1h30m` or `-1.5s`, or nothing when it is none. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === "0") return 0;
  if (rest === "") return undefined;
  let total = 0;
  while (rest !== "") {
    const part = /^(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/.exec(rest);
    if (part === null) return undefined;
    total += Number(part[1]) * (UNITS[part[2] ?? ""] ?? 0);
    rest = rest.slice(part[0].length);
  }
  return total < MAX_NANOSECONDS ? sign * total : undefined;
}
