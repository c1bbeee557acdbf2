/** Follows the signs of an OpenKruise, and says which mode this process is in. Every replica does. */
import type { Clock, DeepReadonly, Informer, Logger, Metrics, Runnable, Sources } from "@quartet/core";
import {
  CUSTOM_RESOURCE_DEFINITION,
  LEASE,
  type Lease,
  MUTATING_WEBHOOK_CONFIGURATION,
} from "@quartet/core/kinds";
import { MODES, type Mode, type ModeFlag, nextMode } from "./mode.ts";
import { CRD_NAME, KRUISE_CONFIGURATION, KRUISE_LEASE, type Signal, signalsOf } from "./signals.ts";

/** How often a Lease that stands still is looked at again, in milliseconds; costs no request. */
const LOOK_AGAIN_MS = 2_000;

export interface ModeWatchOptions {
  readonly sources: Sources;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly flag: Exclude<ModeFlag, "off">;
  /** Where OpenKruise keeps its Lease. */
  readonly kruiseNamespace: string;
}

export interface ModeWatch {
  /** `waiting` until everything that decides it has been read. */
  current(): Mode;
  /** Why, for people. */
  reason(): string;
  /** Called after each change; returns the way to undo it. */
  onChange(fn: (mode: Mode) => void): () => void;
  /** Work of every replica: without it the mode stays `waiting`. */
  readonly runnable: Runnable;
}

export function createModeWatch(options: ModeWatchOptions): ModeWatch {
  const { log, metrics, flag } = options;
  const listeners = new Set<(mode: Mode) => void>();
  let mode: Mode = "waiting";
  let reason = "the signs of an OpenKruise have not been read yet";
  const gauge = metrics.gauge("daemonset_controller_mode", "1 for the mode that DaemonSets are in.", [
    "mode",
  ]);
  const show = (): void => {
    for (const one of MODES) gauge.set({ mode: one }, one === mode ? 1 : 0);
  };
  show();

  const decide = (signals: readonly Signal[], isDefined: boolean): void => {
    const next = nextMode(flag, mode, { signals, isDefined });
    const because = reasonOf(next, signals);
    if (next === mode && because === reason) return;
    const isNew = next !== mode;
    mode = next;
    reason = because;
    show();
    log[isNew && next !== "owner" ? "warn" : "info"]("DaemonSets", { mode, reason });
    if (isNew) for (const listener of listeners) listener(mode);
  };

  return {
    current: () => mode,
    reason: () => reason,
    onChange(fn) {
      listeners.add(fn);
      return () => void listeners.delete(fn);
    },
    runnable: {
      name: "daemonset-mode",
      needLeaderElection: false,
      run: (signal) => follow(options, decide, signal),
    },
  };
}

/** What a mode means, and what to do where it is not the wanted one. */
function reasonOf(mode: Mode, signals: readonly Signal[]): string {
  const seen = signals.map(({ text }) => text).join(", ");
  switch (mode) {
    case "owner":
      return "no sign of an OpenKruise: this process controls the pods";
    case "waiting":
      return `CRD ${CRD_NAME} does not exist: apply it, or install the chart with crds.enabled=true`;
    case "companion":
      return seen === ""
        ? "no sign of an OpenKruise: nobody controls the pods; for this process to do so, start it with --daemonset-mode=owner"
        : `OpenKruise controls the pods (${seen}); for this process to do so, remove it and start this process again`;
    default:
      return signals.every(({ id }) => id === "crd")
        ? `the definition is not ours (${seen}): adopt it by "quartet adopt-crd ${CRD_NAME}"`
        : `OpenKruise is there (${seen}): remove it, or use --daemonset-mode=companion`;
  }
}

/** Tells the signals at the start and on each change, until the signal aborts. */
async function follow(
  { sources, clock, kruiseNamespace }: ModeWatchOptions,
  tell: (signals: readonly Signal[], isDefined: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  // What may not be read is waited for: no mode but `waiting` follows from half a picture (DSP-1032).
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}`, optional: true });
  const configurations = sources.open(MUTATING_WEBHOOK_CONFIGURATION, named(KRUISE_CONFIGURATION));
  const crds = sources.open(CUSTOM_RESOURCE_DEFINITION, named(CRD_NAME));
  const leases = sources.open(LEASE, { ...named(KRUISE_LEASE), namespaces: [kruiseNamespace] });
  const all = [configurations, crds, leases] as unknown as Informer[];
  let leaseChangedAt: number | undefined;
  let cancelTimer = (): void => {};

  const look = (): void => {
    cancelTimer();
    if (signal.aborted || !all.every(({ everSynced }) => everSynced)) return;
    const [lease] = leases.list();
    const [crd] = crds.list();
    const leaseStillMs = leaseChangedAt === undefined ? undefined : clock.monotonic() - leaseChangedAt;
    const [configuration] = configurations.list();
    const signals = signalsOf({ configuration, lease, leaseStillMs, crd }, clock.now());
    tell(signals, crd !== undefined);
    if (signals.some(({ id }) => id === "lease"))
      cancelTimer = clock.setTimer(LOOK_AGAIN_MS, look, { unref: true });
  };
  leases.addHandler((event) => {
    if (event.type === "update" && renewal(event.object) !== renewal(event.old)) {
      leaseChangedAt = clock.monotonic();
    }
    look();
  });
  configurations.addHandler(look);
  crds.addHandler(look);
  try {
    await Promise.all(all.map((informer) => informer.synced(signal)));
    look();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    cancelTimer();
    for (const informer of all) sources.close(informer);
  }
}

function renewal({ metadata, spec }: DeepReadonly<Lease>): string {
  return JSON.stringify([metadata.uid, spec?.holderIdentity, spec?.renewTime]);
}
