/**
 * What stands in a destination now. Files are asked, read and made synchronously: each such call takes microseconds, while
 * its way through Node's thread pool and back takes a hundred times as long on a busy machine. Only flushing to the disk is
 * waited for asynchronously.
 */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, RunError } from "../errors.ts";

export interface Current {
  readonly content: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Links followed at most. */
const MAX_LINKS = 40;

/** The file that a path means: links are followed, also to what is not there yet. */
export function targetOf(path: string): string {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink) return join(realFolder(dirname(target)), basename(target));
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw new RunError(`${path}: too many links`, "soon");
}

function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

/** Reads a file with its attributes; nothing when there is none. */
export function readCurrent(path: string): Current | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (entry.isDirectory()) throw new RunError(`dest ${path} is a directory`, "soon");
  try {
    return { content: readFileSync(path), mode: entry.mode & 0o777, uid: entry.uid, gid: entry.gid };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export const shownMode = (mode: number): string => mode.toString(8).padStart(4, "0");

/** The first digits of a content's SHA-256, for log lines. */
export const digestOf = (content: Buffer): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 12);
