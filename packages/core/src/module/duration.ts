/** Durations as Go writes them: `90s`, `1h30m`, `1.5h`, `-1s`. */

/** Milliseconds per unit; the units are those of Go's `time.ParseDuration`. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/**
 * Milliseconds of a duration text. `0` needs no unit; any other number without one is an error, so that nobody
 * has to guess what `10` means.
 */
export function parseDuration(text: string): number {
  const trimmed = text.trim();
  const negative = trimmed.startsWith("-");
  const body = /^[+-]/.test(trimmed) ? trimmed.slice(1) : trimmed;
  if (body === "0") return 0;
  if (/^\d+(\.\d+)?$/.test(body)) {
    throw new Error(`${JSON.stringify(text)} lacks a unit: write ${body}s, ${body}m or ${body}h`);
  }
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const part = PART.exec(body);
    if (part === null) return fail(text);
    total += Number(part[1]) * UNITS[part[2]!]!;
  }
  if (body === "") return fail(text);
  return negative ? -total : total;
}

/** Shortest Go-style text of a duration: `90000` gives `1m30s`, `15000` gives `15s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  const parts: string[] = [];
  let rest = Math.abs(ms);
  for (const unit of ["h", "m"] as const) {
    const count = Math.floor(rest / UNITS[unit]!);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * UNITS[unit]!;
  }
  const seconds = Number((rest / 1_000).toFixed(3));
  if (rest >= 1_000) parts.push(`${seconds}s`);
  else if (rest > 0) parts.push(`${Number(rest.toFixed(6))}ms`);
  return (ms < 0 ? "-" : "") + parts.join("");
}

function fail(text: string): never {
  throw new Error(`${JSON.stringify(text)} is not a duration: write for example 90s or 1h30m`);
}
