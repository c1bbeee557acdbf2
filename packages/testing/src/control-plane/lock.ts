/** A lock between processes: a file that holds the process id of its owner. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Pause between two looks at a lock that somebody else holds. */
const POLL_MS = 200;

/** True while a process of that id exists (also when it belongs to somebody else). */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Runs `work` while holding the lock `file`; waits as long as a living process holds it. A lock whose owner has died
 * is taken over. `onWait` is called once, with the owner's process id, when there is something to wait for.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  onWait?: (owner: number) => void,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!tryLock(file)) {
    const owner = ownerOf(file);
    if (owner !== undefined && !processExists(owner)) {
      takeAway(file, owner);
      continue;
    }
    if (owner !== undefined && !told) onWait?.(owner);
    told ||= owner !== undefined;
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Owner of the lock; `undefined` when it is gone by now, or not yet written. */
function ownerOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Moves a dead owner's lock away; when a new owner was quicker, its lock is put back. */
function takeAway(file: string, deadOwner: number): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // somebody else took it away
  }
  if (ownerOf(aside) === deadOwner) rmSync(aside, { force: true });
  else renameSync(aside, file);
}
