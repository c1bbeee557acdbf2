/** Durations as users write them. */

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
};
const PARTS = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)/;
/** Timers of Node.js hold no more milliseconds. */
const MAX_MS = 2_147_483_647;

/** Milliseconds of a Go duration (`1m30s`, `500ms`) or a bare number of whole seconds; undefined when it is neither. */
export function parseDuration(text: string): number | undefined {
  if (/^[0-9]{1,12}$/.test(text)) return inRange(Number(text) * 1000);
  if (text.length > 64 || text === "") return undefined;
  let rest = text;
  let total = 0;
  while (rest !== "") {
    const match = PARTS.exec(rest);
    if (match === null) return undefined;
    total += Number(match[1]) * UNITS[match[2]!]!;
    rest = rest.slice(match[0].length);
  }
  return inRange(total);
}

const inRange = (milliseconds: number): number | undefined =>
  milliseconds <= MAX_MS ? milliseconds : undefined;

/** A duration for messages, e.g. `1.5s`. */
export const shownDuration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)}ms` : `${Number((milliseconds / 1000).toFixed(1))}s`;
