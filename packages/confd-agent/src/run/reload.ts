/** Tells services that their files are others, without any shell where the resource says so. */
import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { shownDuration } from "../config/duration.ts";
import { codeOf, messageOf } from "../errors.ts";
import type { Reload } from "../resource/reload.ts";
import { type CommandOptions, type CommandResult, MAX_OUTPUT, runCommand } from "./command.ts";

/** What the kernel keeps of a name, in bytes. */
const NAME_BYTES = 15;
/** What is read of a file with a number, in bytes. */
const NUMBER_BYTES = 64;
/** Status of what failed without one of its own. */
const FAILED = -1;

export interface ReloadOptions extends Omit<CommandOptions, "command"> {
  readonly reload: Reload;
}

/** Never rejects: what is wrong is in the result. */
export async function runReload({ reload, ...options }: ReloadOptions): Promise<CommandResult> {
  switch (reload.kind) {
    case "command":
      return await runCommand({ command: reload.text, ...options });
    case "http":
      return await request(reload.method, reload.url, options);
    case "signal":
      return sendSignal(reload.target, reload.signal);
  }
}

const done = { status: 0, output: "", leftOut: 0 };
const failed = (problem: string): CommandResult => ({ ...done, status: FAILED, problem });

/** Any status of success will do; what the server says to another is kept as the output of a command is. */
async function request(
  method: string,
  url: string,
  { timeout, signal }: Pick<ReloadOptions, "timeout" | "signal">,
): Promise<CommandResult> {
  const limit = timeout === 0 ? undefined : AbortSignal.timeout(timeout);
  try {
    const answer = await fetch(url, {
      method,
      redirect: "manual",
      signal: AbortSignal.any([signal, ...(limit === undefined ? [] : [limit])]),
    });
    const { kept, leftOut } = await readBody(answer);
    const { status, ok } = answer;
    return {
      output: kept.toString("latin1"),
      leftOut,
      ...(ok ? { status: 0 } : { status, problem: `HTTP ${status}` }),
    };
  } catch (error) {
    if (limit?.aborted === true) return failed(`timed out after ${shownDuration(timeout)}`);
    const { cause } = error as { cause?: unknown };
    return failed(cause === undefined ? messageOf(error) : messageOf(cause));
  }
}

async function readBody({ body }: Response): Promise<{ kept: Buffer; leftOut: number }> {
  const chunks: Uint8Array[] = [];
  let kept = 0;
  let leftOut = 0;
  for await (const chunk of body ?? []) {
    const part = chunk.subarray(0, MAX_OUTPUT - kept);
    if (part.length > 0) chunks.push(part);
    kept += part.length;
    leftOut += chunk.length - part.length;
  }
  return { kept: Buffer.concat(chunks), leftOut };
}

function sendSignal(target: string, signal: NodeJS.Signals): CommandResult {
  try {
    const found = target.startsWith("/") ? [numberIn(target)] : processesNamed(target);
    const problems = found.flatMap((pid) => problemOf(pid, target, signal) ?? []);
    const [problem = found.length === 0 ? `no process ${target}` : undefined] = problems;
    return problem === undefined ? done : failed(problem);
  } catch (error) {
    return failed(messageOf(error));
  }
}

/** Sends it to one process; what is wrong, if so. */
function problemOf(pid: number, target: string, signal: NodeJS.Signals): string | undefined {
  try {
    process.kill(pid, signal);
    return undefined;
  } catch (error) {
    const isGone = codeOf(error) === "ESRCH";
    return isGone ? `the process of ${target} is gone` : `process ${pid} of ${target}: ${messageOf(error)}`;
  }
}

function numberIn(file: string): number {
  const text = beginningOf(file).trim();
  // 0 would be this group of processes. What else stands there is not told: it may be any file of the machine.
  if (!/^[1-9][0-9]{0,9}$/.test(text)) throw new Error(`${file} holds no number of a process`);
  if (text === "1" || Number(text) === process.pid) {
    throw new Error(
      `${file} holds ${text}, which is the agent or what started it: it comes from another container, or use the name of the process`,
    );
  }
  return Number(text);
}

/** A number and what surrounds it. Its folder may be the service's: a pipe, or what has no end, shall stop nobody. */
function beginningOf(file: string): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(NUMBER_BYTES);
    return bytes.toString("latin1", 0, readSync(opened, bytes));
  } finally {
    closeSync(opened);
  }
}

/** The processes of a name, without those that another of the name has started: a master tells its workers. */
function processesNamed(name: string): number[] {
  const wanted = Buffer.from(name).subarray(0, NAME_BYTES).toString("latin1");
  const parents = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const known = nameAndParent(pid);
    if (known?.name === wanted) parents.set(pid, known.parent);
  }
  return [...parents].filter(([, parent]) => !parents.has(parent)).map(([pid]) => pid);
}

/** From `PID (NAME) STATE PARENT ...`; a name may hold any of these characters. Nothing when it has ended. */
function nameAndParent(pid: number): { name: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return undefined;
    return { name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")), parent: Number(parent) };
  } catch {
    return undefined;
  }
}
