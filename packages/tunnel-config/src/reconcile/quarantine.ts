/** One source that the API refuses keeps no other from being transmitted (TUN-630). */
import { ApiError } from "../cloudflare/errors.ts";
import { type Aggregate, aggregate, hashOf } from "../desired/aggregate.ts";
import type { Rejection, Source, Sources } from "../desired/document.ts";

/** Calls that are spent on finding out which sources are refused; the rest waits for the next pass. */
const MAX_CALLS = 10;
/** Time after which a refused source is tried again as it is, in milliseconds. */
const RETRY_MS = 3_600_000;
const UNTRIED = "not transmitted yet: others were refused at the same time";
/** Time after which a source that was not tried is, in milliseconds. */
const UNTRIED_MS = 60_000;

/** What of a source counts for the configuration. */
export function fragmentOf(source: Source | undefined): string {
  return source === undefined ? "" : hashOf([source.rules ?? [], source.settings ?? {}]);
}

/** Sources of which those that were refused are as they were accepted last, and why they were refused. */
export interface Held {
  readonly sources: Sources;
  readonly rejected: readonly Rejection[];
}

/**
 * Holds back what was refused and has not changed since.
 * @param accepted sources of the last configuration that the API took
 * @param now wall-clock time in milliseconds
 */
export function holdBack(
  wanted: Sources,
  accepted: Sources,
  rejections: readonly Rejection[] | undefined,
  now: number,
): Held {
  const rejected = (rejections ?? []).filter(
    ({ source, fragment, since, reason }) =>
      fragment !== undefined &&
      fragment === fragmentOf(wanted[source]) &&
      now - Date.parse(since ?? "") < pauseOf(reason),
  );
  return {
    sources: asAccepted(
      wanted,
      accepted,
      rejected.map(({ source }) => source),
    ),
    rejected,
  };
}

/** Milliseconds until one of those that are held back is tried again; nothing when none is. */
export function nextTry(rejected: readonly Rejection[], now: number): number | undefined {
  const waits = rejected
    .filter(({ fragment }) => fragment !== undefined)
    .map(({ reason, since }) => Date.parse(since ?? "") + pauseOf(reason) - now);
  return waits.length === 0 ? undefined : waits.reduce((a, b) => Math.min(a, b));
}

function pauseOf(reason: string): number {
  return reason === UNTRIED ? UNTRIED_MS : RETRY_MS;
}

function asAccepted(wanted: Sources, accepted: Sources, keys: readonly string[]): Sources {
  const next: Record<string, Source> = { ...wanted };
  for (const key of keys) {
    const before = accepted[key];
    if (before === undefined) delete next[key];
    else next[key] = before;
  }
  return next;
}

export interface Transmission {
  readonly wanted: Sources;
  readonly accepted: Sources;
  /** Hash of the configuration that the account holds, as far as it is known. */
  readonly held: string | undefined;
  readonly now: number;
  /** Sends a configuration and answers with its version; throws {@link ApiError}. */
  send(desired: Aggregate): Promise<number>;
}

export interface Transmitted {
  readonly sources: Sources;
  readonly desired: Aggregate;
  /** Version of the configuration; nothing when nothing new was taken. */
  readonly version: number | undefined;
  /** Sources that were refused now. */
  readonly rejected: readonly Rejection[];
}

/** Transmits all sources; when the API refuses them together, all but those that it refuses one by one. */
export async function transmitSources(work: Transmission): Promise<Transmitted> {
  const { wanted, accepted, send } = work;
  const desired = aggregate(wanted);
  try {
    const version = await send(desired);
    return { sources: wanted, desired, version, rejected: [] };
  } catch (error) {
    const changed = [...new Set([...Object.keys(wanted), ...Object.keys(accepted)])]
      .filter((key) => fragmentOf(wanted[key]) !== fragmentOf(accepted[key]))
      .sort();
    if (!isRefusal(error) || changed.length === 0) throw error;
    return sift(work, changed, error);
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.class === "validation";
}

/** Goes back to what was accepted, then adds the changed sources in halves. */
async function sift(work: Transmission, changed: readonly string[], first: ApiError): Promise<Transmitted> {
  const { wanted, accepted, held, now, send } = work;
  let sources = asAccepted(wanted, accepted, changed);
  let desired = aggregate(sources);
  let version: number | undefined;
  let calls = 1;
  // What the account holds needs no call.
  if (desired.hash !== held) {
    version = await send(desired);
    calls += 1;
  }
  const rejected: Rejection[] = [];
  const since = new Date(now).toISOString();
  const reject = (source: string, reason: string): void => {
    rejected.push({ source, hostname: "", path: "", reason, fragment: fragmentOf(wanted[source]), since });
  };
  // The whole was refused, so the halves are next.
  const queue: { keys: readonly string[]; known?: ApiError }[] = [{ keys: changed, known: first }];
  for (let part = queue.shift(); part !== undefined; part = queue.shift()) {
    const { keys, known } = part;
    let refusal = known;
    if (refusal === undefined && calls >= MAX_CALLS) {
      for (const key of keys) reject(key, UNTRIED);
      continue;
    }
    if (refusal === undefined) {
      const next = withWanted(sources, wanted, keys);
      try {
        calls += 1;
        version = await send(aggregate(next));
        sources = next;
        desired = aggregate(next);
        continue;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal = error;
      }
    }
    const [only, ...others] = keys;
    if (only !== undefined && others.length === 0) reject(only, refusal.message);
    else {
      const middle = Math.ceil(keys.length / 2);
      queue.unshift({ keys: keys.slice(0, middle) }, { keys: keys.slice(middle) });
    }
  }
  return { sources, desired, version, rejected };
}

function withWanted(sources: Sources, wanted: Sources, keys: readonly string[]): Sources {
  const next: Record<string, Source> = { ...sources };
  for (const key of keys) {
    const source = wanted[key];
    if (source === undefined) delete next[key];
    else next[key] = source;
  }
  return next;
}
