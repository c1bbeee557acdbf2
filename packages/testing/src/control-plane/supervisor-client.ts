/** Starts the supervisor of a control plane, and talks to a running one. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { extname, join } from "node:path";
import {
  type ComponentSpec,
  type ComponentStatus,
  MAX_SOCKET_PATH,
  SOCKET_NAME,
  type SupervisorReply,
  type SupervisorRequest,
} from "./supervisor-protocol.ts";

/** Requests to the supervisor of a work folder, from whatever process. */
export interface Supervisor {
  start(component: ComponentSpec): Promise<void>;
  restart(name: string): Promise<void>;
  /** Ends a component and resolves when it has exited; SIGKILL follows after 20 s. */
  stop(name: string, signal?: NodeJS.Signals): Promise<void>;
  signal(name: string, signal: NodeJS.Signals): Promise<void>;
  status(): Promise<ComponentStatus[]>;
  /** The work folder is kept at the end. */
  keep(): Promise<void>;
  /** Stops everything; resolves when all processes have exited and the folder is gone (or kept). */
  shutdown(): Promise<void>;
}

/**
 * Starts a supervisor for `workDir`. It lives as long as this process, or until `shutdown`; it does not keep this
 * process alive.
 */
export async function startSupervisor(workDir: string): Promise<Supervisor> {
  const socketPath = join(workDir, SOCKET_NAME);
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH) {
    throw new Error(`${workDir}: too long for a socket below it: choose a work folder with a shorter path`);
  }
  const log = openSync(join(workDir, "supervisor.log"), "a", 0o600);
  const program = join(import.meta.dirname, `supervisor${extname(import.meta.filename)}`);
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, workDir], {
    detached: true,
    stdio: ["pipe", "pipe", log],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  closeSync(log);
  await readyLine(child, join(workDir, "supervisor.log"));
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) {
    pipe?.on("error", () => {});
    (pipe as unknown as Socket).unref();
  }
  const supervisor = connectSupervisor(workDir);
  let ending = false;
  child.once("exit", () => {
    if (!ending) killGroups(workDir);
  });
  return {
    ...supervisor,
    shutdown() {
      ending = true;
      return supervisor.shutdown();
    },
  };
}

/** Talks to the supervisor of a work folder. */
export function connectSupervisor(workDir: string): Supervisor {
  const socketPath = join(workDir, SOCKET_NAME);
  const send = async (request: SupervisorRequest): Promise<ComponentStatus[]> => {
    const reply = await exchange(socketPath, request);
    if (!reply.ok) throw new Error(reply.error);
    return reply.status;
  };
  return {
    start: async (component) => void (await send({ op: "start", component })),
    restart: async (name) => void (await send({ op: "restart", name })),
    stop: async (name, signal) =>
      void (await send(signal === undefined ? { op: "stop", name } : { op: "stop", name, signal })),
    signal: async (name, signal) => void (await send({ op: "signal", name, signal })),
    status: () => send({ op: "status" }),
    keep: async () => void (await send({ op: "keep" })),
    shutdown: async () => void (await send({ op: "shutdown" })),
  };
}

/** One request, one reply, one connection. Resolves when the supervisor has closed its end, if it does so. */
function exchange(socketPath: string, request: SupervisorRequest): Promise<SupervisorReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    socket.once("error", (error) => reject(new Error(`supervisor of the control plane: ${error.message}`)));
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.endsWith("\n") && request.op !== "shutdown") socket.end();
    });
    socket.once("close", () => {
      if (text === "") reject(new Error("supervisor of the control plane: ended without an answer"));
      else resolve(JSON.parse(text) as SupervisorReply);
    });
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

function readyLine(child: ChildProcess, log: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      const text = readFileSync(log, "utf8").trim();
      reject(new Error(`supervisor of the control plane ended with ${code}:\n${text}`));
    };
    child.once("error", reject);
    child.once("exit", onExit);
    child.stdout?.once("data", () => {
      child.off("exit", onExit);
      resolve();
    });
  });
}

/** Last resort when the supervisor itself was killed: its children are ended at once. */
function killGroups(workDir: string): void {
  let pids: number[] = [];
  try {
    pids = JSON.parse(readFileSync(join(workDir, "pids.json"), "utf8")) as number[];
  } catch {
    return; // nothing was started, or the folder is gone
  }
  for (const pid of pids) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // gone already
    }
  }
}
