/** The product's bundle as a process of its own beside a control plane, as `quartet dev` runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { portAllocator } from "@quartet/testing";
import { bundle } from "../packages/manager/bundle.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../tools/bundle.ts";

const POLL_MS = 1_000;
const LIMIT_MS = 600_000;

export interface ProgramOptions {
  /** For its bundle, kubeconfig and log. */
  readonly folder: string;
  /** Text of the kubeconfig. */
  readonly kubeconfig: string;
  /** Value of `--controllers`. */
  readonly controllers: string;
  /** More flags of `quartet dev`. */
  readonly flags: readonly string[];
}

/** Resolves when the manager is ready; throws with its log when it ends before. */
export async function startProgram({
  folder,
  kubeconfig,
  controllers,
  flags,
}: ProgramOptions): Promise<ChildProcess> {
  const path = join(folder, "kubeconfig");
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  const outfile = join(folder, "manager.mjs");
  await bundle({ outfile });
  const health = await portAllocator().allocate();
  const log = openSync(join(folder, "manager.log"), "w", 0o600);
  const child = spawn(
    process.execPath,
    [
      ...[...NODE_FLAGS, outfile, "dev", `--controllers=${controllers}`, `--kubeconfig=${path}`],
      ...["--webhook-port=0", "--metrics-bind-address=0", "--debug-bind-address=0", "--log-level=warn"],
      ...[`--health-probe-bind-address=127.0.0.1:${health}`, ...flags],
    ],
    { stdio: ["ignore", log, log], env: { ...process.env, ...NODE_ENVIRONMENT } },
  );
  closeSync(log);
  await once(child, "spawn");
  await until(async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "manager.log"), "utf8"));
    const answer = await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined);
    return answer?.ok === true;
  });
  return child;
}

/** Ends a program by SIGTERM and waits for its end. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

/** Looks every second, for ten minutes at most. */
export async function until(done: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    if (await done()) return;
  }
  throw new Error(`not done within ${LIMIT_MS / 1_000} s`);
}
