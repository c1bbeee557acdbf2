/**
 * Loopback ports for servers, handed out once among all processes of the machine.
 *
 * A claim is a file `PORT.PID` in a folder that all processes share. Claims of processes that have died do not count,
 * so nothing has to be cleaned up after a crash.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processExists } from "./lock.ts";

/** Below the ephemeral range of Linux (32768) and macOS (49152): no client connection takes a port of ours. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
/** Ports looked at before the allocator gives up. */
const MAX_TRIES = 500;

export interface PortAllocator {
  /** A port of 127.0.0.1 that is free and that no other allocation holds. */
  allocate(): Promise<number>;
  /** Gives a port back. */
  release(port: number): void;
  /** Gives all ports of this allocator back. */
  releaseAll(): void;
}

export interface PortAllocatorOptions {
  /** Folder of the claims. Default `quartet-ports` in the system's temporary folder. */
  folder?: string;
  /** First and last port. Default 20000 to 32000. */
  range?: readonly [number, number];
  /** Process in whose name ports are claimed. Default the own one. */
  pid?: number;
}

export function portAllocator(options: PortAllocatorOptions = {}): PortAllocator {
  const folder = options.folder ?? join(tmpdir(), "quartet-ports");
  const [first, last] = options.range ?? [FIRST_PORT, LAST_PORT];
  const pid = options.pid ?? process.pid;
  const held = new Set<number>();
  const claimFile = (port: number): string => join(folder, `${port}.${pid}`);

  /** Claims first and looks afterwards: of two processes that want the same port at most one keeps it. */
  const claim = (port: number): boolean => {
    if (held.has(port)) return false;
    try {
      writeFileSync(claimFile(port), "", { flag: "wx" });
    } catch (error) {
      // Another allocator of this process has it.
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    if (othersWant(folder, port, pid)) {
      rmSync(claimFile(port), { force: true });
      return false;
    }
    held.add(port);
    return true;
  };
  const release = (port: number): void => {
    if (held.delete(port)) rmSync(claimFile(port), { force: true });
  };

  return {
    async allocate() {
      mkdirSync(folder, { recursive: true });
      const size = last - first + 1;
      const start = Math.floor(Math.random() * size);
      for (let offset = 0; offset < Math.min(size, MAX_TRIES); offset++) {
        const port = first + ((start + offset) % size);
        if (!claim(port)) continue;
        if (await canListen(port)) return port;
        release(port);
      }
      throw new Error(
        `no free port between ${first} and ${last} on 127.0.0.1: stop what listens there, or empty ${folder}`,
      );
    },
    release,
    releaseAll() {
      for (const port of [...held]) release(port);
    },
  };
}

/** True when a living process other than `pid` claims the port; all claims of dead ones are removed. */
function othersWant(folder: string, port: number, pid: number): boolean {
  let wanted = false;
  for (const name of readdirSync(folder)) {
    const [claimed, owner] = name.split(".").map(Number);
    if (owner === undefined || owner === pid) continue;
    if (!processExists(owner)) rmSync(join(folder, name), { force: true });
    else if (claimed === port) wanted = true;
  }
  return wanted;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
