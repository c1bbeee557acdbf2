/** Runs the agent as a process of its own, from source unless told otherwise, on folders of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCli } from "./cli.ts";

/** Limit for anything to happen, far beyond what it takes on a loaded machine. */
const LIMIT_MS = 150_000;
const POLL_MS = 20;
const PROGRAM: readonly string[] = [
  process.execPath,
  "--conditions=quartet-source",
  "--disable-warning=ExperimentalWarning",
  new URL("./main.ts", import.meta.url).pathname,
];

/** Compiled sources of all such processes: most of what a start from source costs. */
const COMPILED = { NODE_COMPILE_CACHE: join(tmpdir(), "quartet-confd-compiled") };

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningAgent {
  readonly pid: number;
  /** Where its view of the file system begins. */
  readonly root: string;
  /** Everything logged so far. */
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** Waits for its end. */
  ended(): Promise<Finished>;
  /** Asks it to end, and waits. */
  stop(): Promise<Finished>;
}

export interface Scene {
  readonly folder: string;
  /** A path in the folder. */
  path(name: string): string;
  write(name: string, text: string): void;
  read(name: string): string;
  readBytes(name: string): Buffer;
  exists(name: string): boolean;
  /** Names in the folder. */
  list(): string[];
  /** Writes a resource and its template; `{}` in commands stands for the folder. */
  resource(name: string, resource: ResourceText): void;
  /** Runs the agent to its end, in this process. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Finished>;
  /** Starts the agent. */
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): RunningAgent;
  /** Starts the agent behind shell commands, as root of mounts of its own; its files are below {@link RunningAgent.root}. */
  startIsolated(setup: readonly string[], args: readonly string[]): RunningAgent;
  /** Ends all agents and removes the folder. */
  close(): Promise<void>;
}

export interface ResourceText {
  readonly template: string;
  readonly keys?: readonly string[];
  /** Further lines of the table, TOML. */
  readonly lines?: readonly string[];
  /** Default: the name. */
  readonly dest?: string;
}

export function createScene(program: readonly string[] = PROGRAM): Scene {
  const folder = mkdtempSync(join(tmpdir(), "confd-"));
  const agents: RunningAgent[] = [];
  const compiled = program === PROGRAM ? COMPILED : {};
  mkdirSync(join(folder, "conf.d"));
  mkdirSync(join(folder, "templates"));
  const path = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  const start: Scene["start"] = (args, environment = {}) => {
    const agent = startProcess([...program, "--confdir", folder, ...args], folder, {
      ...compiled,
      ...environment,
    });
    agents.push(agent);
    return agent;
  };
  return {
    folder,
    path,
    write,
    read: (name) => readFileSync(path(name), "utf8"),
    readBytes: (name) => readFileSync(path(name)),
    exists: (name) => existsSync(path(name)),
    list: () => readdirSync(folder),
    resource: (name, { template, keys = [], lines = [], dest = path(name) }) => {
      const own = lines.map((line) => line.replaceAll("{}", folder));
      write(
        `conf.d/${name}.toml`,
        [
          "[template]",
          `src = "${name}.tmpl"`,
          `dest = ${JSON.stringify(dest)}`,
          `keys = ${JSON.stringify(keys)}`,
          ...own,
          "",
        ].join("\n"),
      );
      write(`templates/${name}.tmpl`, template);
    },
    run: (args, environment) => runHere(["--confdir", folder, ...args], environment),
    start,
    startIsolated: (setup, args) => {
      const script = [...setup, 'exec "$@"'].join(" && ");
      const command = ["unshare", "-rm", "sh", "-c", script, "sh", ...program, "--confdir", folder, ...args];
      const agent = startProcess(command, folder, compiled);
      agents.push(agent);
      return agent;
    },
    close: async () => {
      await Promise.all(
        agents.map(async (agent) => {
          agent.signal("SIGCONT");
          agent.signal("SIGKILL");
          await agent.ended();
        }),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const BASE_ENVIRONMENT = { PATH: process.env.PATH, HOSTNAME: "localhost", NODE_OPTIONS: "" };

async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  const code = await runCli({
    args,
    environment: { ...BASE_ENVIRONMENT, ...environment },
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    onSignal: () => () => {},
    exit: () => {},
  });
  return { code, stdout, stderr };
}

function startProcess(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): RunningAgent {
  const [program = "", ...rest] = args;
  const child: ChildProcess = spawn(program, rest, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...BASE_ENVIRONMENT, ...environment },
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const end = new Promise<Finished>((resolve) =>
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr })),
  );
  const signal = (name: NodeJS.Signals): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
  };
  return {
    pid: child.pid ?? -1,
    root: `/proc/${child.pid}/root`,
    log: () => stderr,
    signal,
    ended: () => end,
    stop: () => {
      signal("SIGTERM");
      return end;
    },
  };
}

/** Waits until the condition holds; the error tells what was there in its place. */
export async function eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(value)} after ${LIMIT_MS} ms`);
    await sleep(POLL_MS);
  }
}

/** Waits until a file of the scene has the text. */
export const becomes = (scene: Scene, name: string, text: string): Promise<string | undefined> =>
  eventually(
    () => (scene.exists(name) ? scene.read(name) : undefined),
    (found) => found === text,
  );
