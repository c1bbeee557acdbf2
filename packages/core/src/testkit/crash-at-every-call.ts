/**
 * Proves that a reconcile may be killed at any moment (CORE-240).
 *
 * The work is done once undisturbed. Then, in a fresh world each time, the process is killed before its first call,
 * before its second one and so on, and once more after each of them; a new process does the work again. What is there
 * in the end must be the same every time.
 */
import type { Client } from "../client/types.ts";
import { firstDifference, withoutVolatile } from "./end-state.ts";
import {
  type CrashPoint,
  type KillableProcess,
  killableProcess,
  type TestProcess,
} from "./killable-process.ts";

/** Enough for any reconcile of a scenario; a run that never ends is found out. */
const DEFAULT_MAX_CALLS = 200;
/** Passes until nothing is left to write: a finalizer, children, a status, and failures that are tried again. */
const DEFAULT_MAX_PASSES = 10;

export interface CrashOptions<W extends { readonly client: Client }> {
  /** Makes a fresh world in its first state, the same each time. */
  setup(): Promise<W>;
  /**
   * One pass of the work, such as one reconcile of one key. It reaches out through `process` alone. Passes are repeated
   * until one neither throws nor writes to the API server, as events and retries would.
   */
  run(process: TestProcess, world: W): Promise<unknown>;
  /** What has to be equal in the end: JSON. Uids, versions, generations and times of objects are left out. */
  endState(world: W): Promise<unknown>;
  teardown?(world: W): Promise<void>;
  /** Most calls of the whole work. Default 200. */
  maxCalls?: number;
  /** Most passes until there is nothing left to write. Default 10. */
  maxPasses?: number;
}

/** What was tried. */
export interface CrashReport {
  /** Calls of the undisturbed work; it was killed before and after each of them. */
  readonly calls: readonly string[];
  /** Number of kills. */
  readonly crashes: number;
}

/**
 * Kills the work at every call and compares the ends. Throws an error that names the call and the first difference, or
 * the failure of the work after the kill.
 */
export async function crashAtEveryCall<W extends { readonly client: Client }>(
  options: CrashOptions<W>,
): Promise<CrashReport> {
  const expected = await trial(options, undefined);
  const maxCalls = options.maxCalls ?? DEFAULT_MAX_CALLS;
  let crashes = 0;
  for (const side of ["before", "after"] as const) {
    for (let call = 1; ; call += 1) {
      if (call > maxCalls) {
        throw new Error(`crashAtEveryCall: more than ${maxCalls} calls; is the work without an end?`);
      }
      const end = await trial(options, { call, side });
      const difference = firstDifference(expected.state, end.state);
      if (difference !== undefined) {
        throw new Error(`crashAtEveryCall: another end ${describe(end.crash)}: ${difference}`);
      }
      if (end.crash === undefined) break;
      crashes += 1;
    }
  }
  return { calls: expected.calls, crashes };
}

interface Crash extends CrashPoint {
  name: string;
}

interface TrialEnd {
  state: unknown;
  calls: readonly string[];
  /** The kill, if the work came so far. */
  crash: Crash | undefined;
}

async function trial<W extends { readonly client: Client }>(
  options: CrashOptions<W>,
  point: CrashPoint | undefined,
): Promise<TrialEnd> {
  const world = await options.setup();
  try {
    const process = killableProcess(world.client, point);
    await settle(options, process, world, undefined);
    let crash: Crash | undefined;
    if (process.crashed && point !== undefined) {
      crash = { ...point, name: process.calls[point.call - 1]! };
      await settle(options, killableProcess(world.client), world, crash);
    }
    const state = withoutVolatile(await options.endState(world));
    return { state, calls: process.calls, crash };
  } finally {
    await options.teardown?.(world);
  }
}

/** Runs passes until one has nothing to write, or until the process dies. */
async function settle<W extends { readonly client: Client }>(
  { run, maxPasses = DEFAULT_MAX_PASSES }: CrashOptions<W>,
  process: KillableProcess,
  world: W,
  crash: Crash | undefined,
): Promise<void> {
  let last: { error: unknown } | undefined;
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const { writes } = process;
    last = await run(process, world).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (process.crashed) return;
    if (last === undefined && process.writes === writes) return;
  }
  const what = last === undefined ? `still writes (${process.calls.at(-1)})` : `still fails: ${last.error}`;
  throw new Error(`crashAtEveryCall: the work ${what} after ${maxPasses} passes ${describe(crash)}`, {
    cause: last?.error,
  });
}

function describe(crash: Crash | undefined): string {
  return crash === undefined
    ? "without a kill"
    : `when killed ${crash.side} call ${crash.call} (${crash.name})`;
}
