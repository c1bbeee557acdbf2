/** Runs check and reload commands in a shell, with limits. */
import { spawn } from "node:child_process";
import { textOf } from "@quartet/go-template";
import { shownDuration } from "../config/duration.ts";
import { codeOf, messageOf } from "../errors.ts";
import type { SecretTexts } from "./secrets.ts";

/** Output that is kept of a command, in bytes. */
export const MAX_OUTPUT: number = 64 * 1024;
/** Time between the request to end and the end by force. */
const KILL_AFTER_MS = 5000;
/** What a command printed may arrive after its end was told. */
const DRAIN_MS = 50;
const SHELL = "/bin/sh";

export interface CommandOptions {
  readonly command: string;
  /** Milliseconds; 0 is none. */
  readonly timeout: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the command. */
  readonly signal: AbortSignal;
}

export interface CommandResult {
  /** What is wrong, e.g. `exit status 1`; nothing after exit 0. */
  readonly problem?: string;
  /** Status of the exit, -1 when there was none. */
  readonly status: number;
  /** Beginning of what it printed (byte string), and how many bytes are left out. */
  readonly output: string;
  readonly leftOut: number;
}

/** What a command printed, quoted for a message and without the secrets. */
export function shownOutput({ output, leftOut }: CommandResult, { hide }: SecretTexts): string {
  const more = leftOut > 0 ? `... (${leftOut} bytes more)` : "";
  return JSON.stringify(textOf(hide(output)) + more);
}

/** What is wrong, with what the command printed about it; nothing when nothing is. */
export function shownProblem(result: CommandResult, secrets: SecretTexts): string | undefined {
  const { problem, output } = result;
  return problem === undefined || output === "" ? problem : `${problem}: ${shownOutput(result, secrets)}`;
}

/** Runs a command to the end of its shell; children that it leaves behind are left alone. */
export function runCommand({
  command,
  timeout,
  environment,
  signal,
}: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(SHELL, ["-c", command], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: environment,
    });
    const chunks: Buffer[] = [];
    let kept = 0;
    let printed = 0;
    const keep = (chunk: Buffer): void => {
      printed += chunk.length;
      const part = chunk.subarray(0, MAX_OUTPUT - kept);
      kept += part.length;
      if (part.length > 0) chunks.push(part);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);

    let timedOut = false;
    let kill: NodeJS.Timeout | undefined;
    const sendGroup = (name: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // It has ended.
      }
    };
    const end = (): void => {
      sendGroup("SIGTERM");
      kill ??= setTimeout(() => sendGroup("SIGKILL"), KILL_AFTER_MS);
    };
    const limit =
      timeout === 0
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            end();
          }, timeout);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();

    const finish = (status: number, problem: string | undefined): void => {
      clearTimeout(limit);
      clearTimeout(kill);
      signal.removeEventListener("abort", end);
      const report = (): void => {
        const output = Buffer.concat(chunks).toString("latin1");
        const leftOut = printed - kept;
        resolve({ status, output, leftOut, ...(problem === undefined ? {} : { problem }) });
      };
      // A child in the background may hold the pipes: they are read on, so that it does not break, but not waited for.
      const drain = setTimeout(report, DRAIN_MS);
      child.once("close", () => {
        clearTimeout(drain);
        report();
      });
      for (const stream of [child.stdout, child.stderr]) {
        if ("unref" in stream && typeof stream.unref === "function") stream.unref();
      }
    };
    child.once("error", (error) =>
      finish(-1, codeOf(error) === "ENOENT" ? `no shell: ${SHELL}` : messageOf(error)),
    );
    child.once("exit", (code, signalName) => {
      if (timedOut) finish(code ?? -1, `timed out after ${shownDuration(timeout)}`);
      else if (signalName !== null) finish(-1, `signal: ${signalName}`);
      else finish(code ?? -1, code === 0 ? undefined : `exit status ${code}`);
    });
  });
}
