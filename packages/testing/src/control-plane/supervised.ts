/** The children of a supervisor: each in its own process group, with a log file. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { ComponentSpec, ComponentStatus } from "./supervisor-protocol.ts";

/** A component that has not ended this long after SIGTERM gets SIGKILL; as envtest does. */
export const STOP_LIMIT_MS = 20_000;

interface Entry {
  spec: ComponentSpec;
  child: ChildProcess;
  exited: Promise<void>;
  starts: number;
}

export interface SupervisedChildren {
  /** Starts a component. Throws when one of that name runs. */
  start(spec: ComponentSpec): void;
  /** Starts a component again with the arguments it had. Throws when it runs. */
  restart(name: string): void;
  /** Ends a component: the signal (default SIGTERM), then SIGKILL after the limit. Resolves when it has exited. */
  stop(name: string, signal?: NodeJS.Signals): Promise<void>;
  /** Ends all, the last started first, each after the one before has exited. */
  stopAll(): Promise<void>;
  signal(name: string, signal: NodeJS.Signals): void;
  status(): ComponentStatus[];
}

export function supervisedChildren(stopLimitMs: number = STOP_LIMIT_MS): SupervisedChildren {
  const entries = new Map<string, Entry>();

  const entryOf = (name: string): Entry => {
    const entry = entries.get(name);
    if (entry === undefined)
      throw new Error(`no component ${name}: known are ${[...entries.keys()].join(", ")}`);
    return entry;
  };

  const start = (spec: ComponentSpec): void => {
    const before = entries.get(spec.name);
    if (before !== undefined && isRunning(before.child)) throw new Error(`${spec.name} runs already`);
    const log = openSync(spec.log, "a", 0o600);
    const child = spawn(spec.command, spec.args, { detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
    const exited = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    entries.set(spec.name, { spec, child, exited, starts: (before?.starts ?? 0) + 1 });
  };

  const stop = async (name: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    const { child, exited } = entryOf(name);
    if (!isRunning(child)) return;
    kill(child, signal);
    // A stopped process (SIGSTOP) gets the signal only when it goes on.
    kill(child, "SIGCONT");
    const limit = setTimeout(() => kill(child, "SIGKILL"), stopLimitMs);
    await exited;
    clearTimeout(limit);
    // Grandchildren, if any, end with the group.
    kill(child, "SIGKILL");
  };

  return {
    start,
    stop,
    restart: (name) => start(entryOf(name).spec),
    async stopAll() {
      for (const name of [...entries.keys()].reverse()) await stop(name);
    },
    signal: (name, signal) => kill(entryOf(name).child, signal),
    status: () =>
      [...entries.values()].map(({ spec, child, starts }) => ({
        name: spec.name,
        pid: child.pid ?? 0,
        running: isRunning(child),
        code: child.exitCode,
        signal: child.signalCode,
        starts,
      })),
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Sends a signal to the child's process group; a group that is gone is no error. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group is gone
  }
}
