/** Whether a controller may reconcile, by the states of its sources. */
import type { Informer, SourceState } from "../cache/types.ts";
import type { Clock } from "../clock.ts";
import type { BuiltSource } from "./plan.ts";
import type { ControllerState } from "./types.ts";

/** A list that stays forbidden for so long makes the controller not ready (CORE-238). */
const FORBIDDEN_FAILS_AFTER_MS = 120_000;

export interface StartedSource {
  readonly source: BuiltSource;
  readonly informer: Informer;
}

export interface ReadinessOptions {
  clock: Clock;
  /** Longest wait for the first lists in milliseconds; 0 waits for ever. */
  syncTimeoutMs: number;
  onState: (state: ControllerState) => void;
  /** True when reconciles may run: all required informers are synced now. */
  onReady: (ready: boolean) => void;
  /** The time for the first lists is over; they are waited for all the same. */
  onLate: () => void;
}

export interface Readiness {
  /** Looks at the sources; called whenever the state of one of them changes. */
  evaluate(): void;
  /** All sources were there at some time. */
  readonly everReady: boolean;
  stop(): void;
}

/** Nothing more is to be waited for: synced, or known to be missing or forbidden. */
export function isSettled({ informer }: StartedSource): boolean {
  return informer.hasSynced() || informer.state === "waiting-for-kind" || informer.state === "forbidden";
}

/**
 * Reconciles run while all required sources are synced. Optional ones are waited for only at first: a controller that
 * took a slow list for an empty one would remove what it should keep.
 */
export function createReadiness(sources: readonly StartedSource[], options: ReadinessOptions): Readiness {
  const { clock, onState, onReady } = options;
  const required = sources.filter(({ source }) => !source.options.optional);
  const has = (state: SourceState): boolean => required.some(({ informer }) => informer.state === state);
  let everReady = false;
  let late = false;
  let refused: { cancel: () => void; tooLong: boolean } | undefined;

  const watchForbidden = (): void => {
    if (!has("forbidden")) {
      refused?.cancel();
      refused = undefined;
    } else if (refused === undefined) {
      const fail = (): void => {
        refused = { cancel: () => {}, tooLong: true };
        evaluate();
      };
      refused = {
        cancel: clock.setTimer(FORBIDDEN_FAILS_AFTER_MS, fail, { unref: true }),
        tooLong: false,
      };
    }
  };
  const stateOf = (ready: boolean): ControllerState => {
    if (ready) return "Running";
    if (refused?.tooLong) return "Failed";
    if (has("waiting-for-kind")) return "WaitingForCRD";
    if (everReady) return "Paused";
    return late ? "Failed" : "Syncing";
  };
  const evaluate = (): void => {
    watchForbidden();
    const synced = required.every(({ informer }) => informer.state === "synced");
    const ready = synced && (everReady || sources.every(isSettled));
    everReady ||= ready;
    onState(stateOf(ready));
    onReady(ready);
  };
  const timeOut = (): void => {
    if (everReady || sources.every(isSettled)) return;
    late = true;
    options.onLate();
    evaluate();
  };
  const { syncTimeoutMs } = options;
  const cancel = syncTimeoutMs > 0 ? clock.setTimer(syncTimeoutMs, timeOut, { unref: true }) : () => {};

  return {
    evaluate,
    get everReady() {
      return everReady;
    },
    stop() {
      cancel();
      refused?.cancel();
    },
  };
}
