/** The children of a supervisor: each in its own process group, with a log file. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { ComponentSpec, ComponentStatus } from "./supervisor-protocol.ts";

/** A component that has not ended this long after SIGTERM gets SIGKILL; as envtest does. */
export const STOP_LIMIT_MS = 20_000;

/** Pause between two looks at a process that is to stop. */
const STOP_POLL_MS = 10;

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
  /** Ends a component: the signal (default its own), then SIGKILL after the limit. Resolves when it has exited. */
  stop(name: string, signal?: NodeJS.Signals): Promise<void>;
  /** Ends all, the last started first, each after the one before has exited. */
  stopAll(): Promise<void>;
  /** Sends a signal. Resolves after SIGSTOP when the process has really stopped. */
  signal(name: string, signal: NodeJS.Signals): Promise<void>;
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
    const child = spawn(spec.command, spec.args, {
      detached: true,
      stdio: ["ignore", log, log],
      cwd: spec.cwd,
      ...spec.user,
    });
    closeSync(log);
    const exited = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    entries.set(spec.name, { spec, child, exited, starts: (before?.starts ?? 0) + 1 });
  };

  const stop = async (name: string, signal?: NodeJS.Signals): Promise<void> => {
    const { child, exited, spec } = entryOf(name);
    if (!isRunning(child)) return;
    kill(child, signal ?? spec.stopSignal ?? "SIGTERM");
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
    async signal(name, signal) {
      const { child } = entryOf(name);
      kill(child, signal);
      while (signal === "SIGSTOP" && isRunning(child) && !(await isStopped(child))) await sleep(STOP_POLL_MS);
    },
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

/**
 * True when the process is stopped by a signal (state T), or when its state cannot be told. One that waits in the
 * kernel (state D) stops before it runs on, and stays there while it waits for a child that was stopped between its
 * vfork and its exec.
 */
async function isStopped(child: ChildProcess): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(child.pid)]);
    return /^\s*[TD]/.test(stdout);
  } catch {
    return true;
  }
}
