/** Flushes to the disk, and when they are due: of all that is done with files they alone may take long. */
import { closeSync, fsync, openSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";

/** Flushes an open file; rejects with the system's error. */
export const flush: (file: number) => Promise<void> = promisify(fsync);

/** Makes a rename last. Some file systems cannot flush folders, and some folders cannot be read: the file is in place. */
export async function flushFolder(folder: string): Promise<void> {
  let file: number | undefined;
  try {
    file = openSync(folder, "r");
    await flush(file);
  } catch {
    // See above.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Types of file systems (statfs(2), linux/magic.h). */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const EXT = 0xef53;
const XFS = 0x58465342;

/** When a file is flushed that replaces another; never where that does nothing. */
export type FlushTime = "never" | "before" | "after";

/**
 * After is enough where what is done to a folder reaches the disk in its order: a crash then never leaves the new name
 * without the one that the old text was kept under before. Other file systems, those of the network among them, promise
 * none, or tell only when flushing that they are full.
 */
export function flushTime(target: string): FlushTime {
  switch (typeOf(target)) {
    case TMPFS:
    case RAMFS:
      return "never";
    case XFS:
      return "after";
    case EXT:
      return isOrdered(dirname(target)) ? "after" : "before";
    default:
      return "before";
  }
}

/** Nothing where there is no file yet. */
function typeOf(path: string): number | undefined {
  try {
    return statfsSync(path).type;
  } catch {
    return undefined;
  }
}

/** With a journal changes keep their order; without one those of a folder do that is a single block. */
function isOrdered(folder: string): boolean {
  const { dev, size, blksize } = statSync(folder);
  if (size <= blksize) return true;
  try {
    const device = basename(readlinkSync(`/sys/dev/block/${majorOf(dev)}:${minorOf(dev)}`));
    return readFileSync(`/proc/fs/ext4/${device}/options`, "latin1").includes("\ndata=");
  } catch {
    return false;
  }
}

/** Halves of a device's number (makedev(3)). */
const majorOf = (dev: number): number => (dev >>> 8) & 0xfff;
const minorOf = (dev: number): number => (dev & 0xff) | ((dev >>> 12) & 0xfff00);
