/** What stands in a destination now. */
import { createHash } from "node:crypto";
import { lstat, readFile, readlink, realpath, stat } from "node:fs/promises";
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
export async function targetOf(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const link = await lstat(target).then(
      (entry) => entry.isSymbolicLink(),
      () => false,
    );
    if (!link) {
      const folder = await realpath(dirname(target)).catch(() => dirname(target));
      return join(folder, basename(target));
    }
    target = resolve(dirname(target), await readlink(target));
  }
  throw new RunError(`${path}: too many links`, "soon");
}

/** Reads a file with its attributes; nothing when there is none. */
export async function readCurrent(path: string): Promise<Current | undefined> {
  try {
    const { mode, uid, gid, isDirectory } = await stat(path).then((entry) => ({
      mode: entry.mode & 0o777,
      uid: entry.uid,
      gid: entry.gid,
      isDirectory: entry.isDirectory(),
    }));
    if (isDirectory) throw new RunError(`dest ${path} is a directory`, "soon");
    return { content: await readFile(path), mode, uid, gid };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export const shownMode = (mode: number): string => mode.toString(8).padStart(4, "0");

/** The first digits of a content's SHA-256, for log lines. */
export const digestOf = (content: Buffer): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 12);
