/**
 * Program that owns the processes of one control plane: `supervisor.ts WORK_DIR`.
 *
 * Its stdin is a pipe that the test process holds and never writes to. When the pipe closes, however the test process
 * ended (SIGKILL too), all components are stopped in order: no child is left behind. Requests come over a socket, so
 * that other processes, such as test workers, can pause or restart components too.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { supervisedChildren } from "./supervised.ts";
import {
  DATABASE_FOLDERS,
  SOCKET_NAME,
  type SupervisorReply,
  type SupervisorRequest,
} from "./supervisor-protocol.ts";

const [workDir] = process.argv.slice(2);
if (workDir === undefined) throw new Error("usage: supervisor.ts WORK_DIR");
const socketPath = join(workDir, SOCKET_NAME);
/** Process ids of the running components, for a test process whose supervisor was killed. */
const pidFile = join(workDir, "pids.json");

const children = supervisedChildren();
let keepLogs = false;
let ending: Promise<void> | undefined;

const handle = async (request: SupervisorRequest): Promise<void> => {
  if (ending !== undefined && request.op !== "shutdown")
    throw new Error("the control plane is being stopped");
  switch (request.op) {
    case "start":
      return children.start(request.component);
    case "restart":
      return children.restart(request.name);
    case "stop":
      return children.stop(request.name, request.signal);
    case "signal":
      return children.signal(request.name, request.signal);
    case "keep":
      keepLogs = true;
      return;
    case "shutdown":
      return end();
    case "status":
      return;
  }
};

const answer = async (line: string): Promise<SupervisorReply> => {
  try {
    await handle(JSON.parse(line) as SupervisorRequest);
    const status = children.status();
    if (existsSync(workDir)) {
      const pids = status.filter(({ running }) => running).map(({ pid }) => pid);
      writeFileSync(pidFile, JSON.stringify(pids));
    }
    return { ok: true, status };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
};

/** Stops all components, then removes the work folder, or all of it but the logs' surroundings when they are kept. */
const end = (): Promise<void> => {
  ending ??= children.stopAll().then(() => {
    // A database is large and of no use without its server.
    const gone = keepLogs ? DATABASE_FOLDERS.map((name) => join(workDir, name)) : [workDir];
    for (const path of gone) rmSync(path, { recursive: true, force: true });
  });
  return ending;
};

const server = createServer((socket: Socket) => {
  let text = "";
  socket.on("error", () => {});
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (!text.endsWith("\n")) return;
    void answer(text).then((reply) => {
      socket.write(`${JSON.stringify(reply)}\n`);
      if (ending !== undefined) void ending.then(() => socket.end(() => process.exit(0)));
    });
  });
});
server.listen(socketPath, () => process.stdout.write("ready\n"));

// Signals of the terminal are for the owner; it closes the pipe.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.on("SIGTERM", () => void end().then(() => process.exit(0)));
process.stdout.on("error", () => {});

process.stdin.on("error", () => {});
process.stdin.on("close", () => {
  if (ending !== undefined) return;
  keepLogs = true;
  void end().then(() => process.exit(0));
});
process.stdin.resume();
