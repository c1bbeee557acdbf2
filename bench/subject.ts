/** The programs that are measured: how each is built and started. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiServer, portAllocator } from "@quartet/testing";
import { bundle } from "../packages/manager/bundle.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../tools/bundle.ts";

export interface Subject {
  readonly name: "quartet" | "controller-runtime";
  readonly command: readonly string[];
  /** What of the pods it can keep. */
  readonly projections: readonly ("full" | "metadata")[];
}

/** A subject that runs. */
export interface RunningSubject {
  readonly pid: number;
  /** User of its requests. */
  readonly user: string;
  /** Address of its metrics. */
  readonly metrics: string;
  /** Address that answers with 200 once its caches are filled. */
  readonly ready: string;
  /** Sends SIGTERM and resolves at the exit; SIGKILL after 20 s. */
  stop(): Promise<void>;
}

export interface SubjectOptions {
  readonly namespace: string;
  readonly leaderElect?: boolean;
  readonly cachePods?: "full" | "metadata";
  /** CPU to run on. */
  readonly cpu?: number;
}

const STOP_LIMIT_MS = 20_000;

const ports = portAllocator();

/** Bundles the quartet subject, so that it starts as the product does. */
export async function quartetSubject(folder: string, profile?: string): Promise<Subject> {
  const outfile = join(folder, "quartet.mjs");
  await bundle({ outfile, entry: join(import.meta.dirname, "subjects/quartet/main.ts") });
  const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  return {
    name: "quartet",
    command: [process.execPath, ...NODE_FLAGS, ...flags, outfile],
    projections: ["full", "metadata"],
  };
}

/** Builds the Go subject; undefined where there is no Go. A build that fails throws. */
export function goSubject(folder: string): Subject | undefined {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  const program = join(folder, "controller-runtime");
  execFileSync("go", ["build", "-o", program, "."], {
    cwd: join(import.meta.dirname, "subjects/controller-runtime"),
    stdio: ["ignore", "inherit", "inherit"],
  });
  return { name: "controller-runtime", command: [program], projections: ["full"] };
}

/** Starts a subject with a user of its own; its output goes to a file in the folder. */
export async function startSubject(
  { name, command }: Subject,
  server: ApiServer,
  folder: string,
  options: SubjectOptions,
): Promise<RunningSubject> {
  const user = `bench-${name}-${crypto.randomUUID().slice(0, 8)}`;
  const kubeconfig = join(folder, `${user}.kubeconfig`);
  writeFileSync(kubeconfig, await server.kubeconfig({ user }), { mode: 0o600 });
  const pods = options.cachePods;
  const [metrics, health] = await Promise.all([ports.allocate(), ports.allocate()]);
  const args = [
    `--server-config=${kubeconfig}`,
    `--namespace=${options.namespace}`,
    `--metrics=127.0.0.1:${metrics}`,
    `--health=127.0.0.1:${health}`,
    ...(options.leaderElect ? ["--leader-elect"] : []),
    ...(pods === undefined ? [] : [name === "quartet" ? `--cache-pods=${pods}` : "--cache-pods"]),
  ];
  const prefix = options.cpu === undefined ? [] : ["taskset", "-c", String(options.cpu)];
  const [program, ...rest] = [...prefix, ...command, ...args];
  const log = openSync(join(folder, `${user}.log`), "w", 0o600);
  // The Go program has no use for it.
  const env = { ...process.env, ...NODE_ENVIRONMENT };
  const child = spawn(program!, rest, { stdio: ["ignore", log, log], env });
  closeSync(log);
  await once(child, "spawn");
  return {
    pid: child.pid!,
    user,
    metrics: `http://127.0.0.1:${metrics}/metrics`,
    ready: `http://127.0.0.1:${health}/readyz`,
    async stop() {
      await stop(child);
      for (const port of [metrics, health]) ports.release(port);
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await exit;
  clearTimeout(timer);
}
