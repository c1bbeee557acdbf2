/** What a soak run must keep to, and whether it did. */

/** Figures at one moment of the run. */
export interface Sample {
  /** Milliseconds since the run began. */
  readonly at: number;
  readonly rssMib: number;
  /** Open TCP sockets of the process. */
  readonly sockets: number;
}

/** All that a run is judged by. */
export interface SoakFigures {
  readonly minutes: number;
  readonly samples: readonly Sample[];
  /** Memory in use after a garbage collection, a quarter into the run and at its end, MiB. */
  readonly heapMib: readonly [number, number];
  /** 99th percentile of the event-loop lag, milliseconds. */
  readonly lagP99Ms: number;
  /** The same of an idle process beside it: what the machine itself holds up. */
  readonly machineLagP99Ms: number;
  /** In what the cache differs from a live list at the end, if in anything. */
  readonly difference: string | undefined;
  readonly exitCode: number;
}

export const LIMITS = {
  /** Growth of memory as a share. */
  growth: 0.1,
  /** Sockets more than after the warm-up: what a cut leaves half closed for a moment. */
  moreSockets: 10,
  /** 99th percentile of the event-loop lag beyond the machine's own, milliseconds. */
  lagP99Ms: 50,
} as const;

/** Resident memory is compared from this minute on; V8 keeps claiming some before, whatever the program does. */
const SETTLED_MINUTE = 10;
const MINUTE_MS = 60_000;

/** Sentences on what the figures violate; empty when all is well. */
export function violations(figures: SoakFigures): string[] {
  const { samples, minutes, heapMib, lagP99Ms, machineLagP99Ms, difference, exitCode } = figures;
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 1) return ["too few samples to say anything: run longer"];
  const found: string[] = [];
  const grew = (what: string, before: number, after: number): void => {
    if (after > before * (1 + LIMITS.growth)) {
      found.push(`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)} MiB`);
    }
  };
  grew("memory in use", heapMib[0], heapMib[1]);
  if (minutes >= 2 * SETTLED_MINUTE) {
    const rss = (from: number): number =>
      median(samples.filter(({ at }) => at >= from && at < from + MINUTE_MS).map(({ rssMib }) => rssMib));
    const end = samples.at(-1)!.at;
    grew("resident memory since minute 10", rss(SETTLED_MINUTE * MINUTE_MS), rss(end - MINUTE_MS + 1));
  }
  const sockets = (part: readonly Sample[]): number => median(part.map((sample) => sample.sockets));
  const [first, last] = [sockets(samples.slice(quarter, 2 * quarter)), sockets(samples.slice(-quarter))];
  if (last > first + LIMITS.moreSockets) found.push(`open sockets grew from ${first} to ${last}`);
  if (lagP99Ms > LIMITS.lagP99Ms + machineLagP99Ms) {
    found.push(
      `event-loop lag p99 is ${lagP99Ms.toFixed(0)} ms, more than ${LIMITS.lagP99Ms} ms beyond the machine's own ${machineLagP99Ms.toFixed(0)} ms`,
    );
  }
  if (difference !== undefined) found.push(difference);
  if (exitCode !== 0) found.push(`the manager ended with exit code ${exitCode}`);
  return found;
}

/** The lower of the two middle values of an even number; NaN of none. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
