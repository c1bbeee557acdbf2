/** When which resource is processed: after changes have settled, one run at a time each, again after failures. */
import type { RunError } from "../errors.ts";
import { backoffDelay } from "./backoff.ts";
import type { Tracked } from "./tracked.ts";
import { runWave, type WaveDeps, type WaveResult } from "./wave.ts";

/** The same error is logged again after this, in milliseconds. */
const REPEAT_ERROR_MS = 300_000;
/** `debounce-max` unless given. */
const DEBOUNCE_MAX_FACTOR = 10;

export interface MarkOptions {
  /** Render even when the values are the same. */
  readonly always?: boolean;
  /** Wait for further changes, as the resource's debounce says. */
  readonly settle?: boolean;
  /** Only a comparison: nothing is known to have changed. */
  readonly resync?: boolean;
  /** Position of the change: a read at it or behind has seen it. */
  readonly revision?: number;
}

export interface Scheduler {
  /** Something changed for the resource. */
  mark(tracked: Tracked, options?: MarkOptions): void;
  /** Resolves when nothing runs and nothing is due at once. */
  settled(): Promise<void>;
  /** Processes what waits for its debounce or batch, then nothing any more; resolves when all runs have ended. */
  stop(): Promise<void>;
}

export function createScheduler(deps: WaveDeps, resources: () => Iterable<Tracked>): Scheduler {
  const { settings, log } = deps;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  let stopped = false;
  let batchEnd = 0;
  const waves = new Set<Promise<void>>();
  const now = (): number => performance.now();

  const isWaiting = ({ dirty, running, retired }: Tracked): boolean => dirty && !running && !retired;
  /** Starts what is due, once all that happens at the same time has been marked, and comes back for the rest. */
  const plan = (): void => {
    if (!stopped) soon ??= setImmediate(flush);
  };
  const start = (ready: readonly Tracked[]): void => {
    const wave = startWave(ready);
    waves.add(wave);
    void wave.finally(() => waves.delete(wave));
  };
  const flush = (): void => {
    clearTimeout(timer);
    clearImmediate(soon);
    soon = undefined;
    if (stopped) return;
    const at = now();
    const waiting = [...resources()].filter(isWaiting);
    const ready = waiting.filter(({ dueAt }) => dueAt <= at);
    if (ready.length > 0) start(ready);
    if (ready.length === waiting.length) return;
    const next = Math.min(...waiting.map(({ dueAt }) => (dueAt <= at ? Number.POSITIVE_INFINITY : dueAt)));
    timer = setTimeout(flush, Math.ceil(next - at));
  };
  const startWave = async (ready: readonly Tracked[]): Promise<void> => {
    for (const tracked of ready) {
      tracked.running = true;
      tracked.dirty = false;
    }
    await runWave(ready, deps, {
      onResult: (tracked, result) => {
        finish(tracked, result);
        plan();
      },
    });
  };
  const finish = (tracked: Tracked, result: WaveResult): void => {
    tracked.running = false;
    if (tracked.retired) return;
    if (result.ok) succeed(tracked, result);
    else fail(tracked, result.error);
    tracked.resync = false;
  };
  const succeed = (tracked: Tracked, result: Extract<WaveResult, { ok: true }>): void => {
    const { resource, client } = tracked;
    if (
      tracked.resync &&
      result.changedData &&
      client.watches() === true &&
      client.outageSince() === undefined
    ) {
      deps.metrics.missedEvents();
      log(
        "warn",
        `${resource.dest}: a change was found that the watch of ${client.settings.backend} had not told`,
        tracked,
      );
    }
    if (tracked.lastError !== undefined) log("info", `${resource.dest}: works again`, tracked);
    tracked.lastError = undefined;
    tracked.failures = 0;
    tracked.lastSuccess = Date.now();
    if (!tracked.dirty) tracked.always = false;
    deps.metrics.processed(resource.dest, "success");
    if (result.reloadAt !== undefined) again(tracked, result.reloadAt);
    else if (result.revision !== undefined) {
      // After what cannot be compared with the read, such as a store that began anew, its position says nothing.
      const isOutdated = tracked.dirty && tracked.dirtyRevision === undefined;
      tracked.processedRevision = isOutdated ? undefined : result.revision;
      // What changed meanwhile was in the read already.
      const seen = tracked.dirtyRevision !== undefined && tracked.dirtyRevision <= result.revision;
      if (seen) tracked.dirty = false;
    }
  };
  const fail = (tracked: Tracked, error: RunError): void => {
    deps.metrics.processed(tracked.resource.dest, "failure");
    tellError(tracked, error.message);
    tracked.failures += 1;
    if (error.retry === "soon") {
      const delay = backoffDelay(tracked.failures, settings.watchErrorBackoff, settings.watchErrorBackoffMax);
      again(tracked, now() + delay);
    }
  };
  /** Plans another run, which sees whatever changes until then. */
  const again = (tracked: Tracked, at: number): void => {
    if (tracked.dirty && tracked.dueAt <= at) return;
    tracked.dirty = true;
    tracked.dirtyRevision = undefined;
    tracked.dueAt = at;
    tracked.dirtySince = now();
  };
  const tellError = (tracked: Tracked, message: string): void => {
    const repeated = tracked.lastError === message && now() - tracked.errorLoggedAt < REPEAT_ERROR_MS;
    tracked.errorsSince += 1;
    if (repeated) return;
    const count = tracked.lastError === message ? ` (${tracked.errorsSince} times)` : "";
    log("error", `${message}${count}`, tracked);
    tracked.lastError = message;
    tracked.errorLoggedAt = now();
    tracked.errorsSince = 0;
  };

  const dueTime = (tracked: Tracked, settle: boolean): number => {
    const at = now();
    const spread = Math.random() * settings.splay;
    if (!settle) return at + spread;
    if (settings.batchInterval > 0) {
      if (batchEnd <= at) batchEnd = at + settings.batchInterval;
      return batchEnd;
    }
    const { debounce } = tracked.resource;
    if (debounce === 0) return at + spread;
    const longest = settings.debounceMax === 0 ? debounce * DEBOUNCE_MAX_FACTOR : settings.debounceMax;
    return Math.min(at + debounce, tracked.dirtySince + longest);
  };

  return {
    mark: (tracked, { always = false, settle = false, resync = false, revision } = {}) => {
      if (stopped || tracked.retired) return;
      if (!tracked.dirty) tracked.dirtySince = now();
      const isFirst = !tracked.dirty;
      if (isFirst) tracked.dirtyRevision = revision;
      else if (tracked.dirtyRevision !== undefined) {
        tracked.dirtyRevision =
          revision === undefined ? undefined : Math.max(tracked.dirtyRevision, revision);
      }
      tracked.dirty = true;
      tracked.always ||= always;
      tracked.resync = resync && (isFirst || tracked.resync);
      tracked.dueAt = dueTime(tracked, settle);
      plan();
    },
    settled: async () => {
      for (;;) {
        flush();
        if (waves.size === 0) return;
        await Promise.race(waves);
      }
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      clearImmediate(soon);
      await Promise.all(waves);
      const waiting = [...resources()].filter(
        ({ dirty, failures, retired }) => dirty && failures === 0 && !retired,
      );
      if (waiting.length > 0) await startWave(waiting);
    },
  };
}

/** One pass over all resources in their order, one after the other; the errors of those that failed. */
export async function runOnce(
  resources: readonly Tracked[],
  deps: WaveDeps,
  failFast: boolean,
): Promise<readonly string[]> {
  const errors: string[] = [];
  const { log } = deps;
  await runWave(resources, deps, {
    goesOn: () => !(failFast && errors.length > 0),
    onResult: (tracked, result) => {
      deps.metrics.processed(tracked.resource.dest, result.ok ? "success" : "failure");
      if (result.ok) return;
      errors.push(result.error.message);
      log("error", result.error.message, tracked);
    },
  });
  return errors;
}
