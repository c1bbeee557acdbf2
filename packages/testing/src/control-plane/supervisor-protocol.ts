/**
 * What the supervisor of a control plane and its clients say to each other: one
 * connection per request over a Unix socket in the work folder, one JSON line each way.
 */

/** A component to start. */
export interface ComponentSpec {
  name: string;
  command: string;
  args: string[];
  /** File that receives stdout and stderr; appended to. */
  log: string;
  /** Folder to start in. Default the supervisor's own. */
  cwd?: string;
  /** User to run as; the supervisor must be root then. Default its own. */
  user?: { uid: number; gid: number };
  /** Signal that ends it in an orderly way. Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
}

export interface ComponentStatus {
  name: string;
  pid: number;
  running: boolean;
  /** Exit code, `null` while it runs or when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** How often it was started. */
  starts: number;
}

export type SupervisorRequest =
  | { op: "start"; component: ComponentSpec }
  | { op: "restart"; name: string }
  | { op: "stop"; name: string; signal?: NodeJS.Signals }
  | { op: "signal"; name: string; signal: NodeJS.Signals }
  | { op: "status" }
  | { op: "keep" }
  | { op: "shutdown" };

export type SupervisorReply = { ok: true; status: ComponentStatus[] } | { ok: false; error: string };

/** Folders in the work folder that are removed even when the rest is kept. */
export const DATABASE_FOLDERS: readonly string[] = ["etcd", "postgres"];
/** Name of the socket in the work folder. */
export const SOCKET_NAME = "supervisor.sock";
/** Longest path of a Unix socket: 104 bytes on macOS, 108 on Linux, with the final zero. */
export const MAX_SOCKET_PATH = 103;
