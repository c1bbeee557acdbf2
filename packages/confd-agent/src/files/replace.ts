/** Puts a candidate in the place of its destination. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../errors.ts";
import { type FlushTime, flush, flushFolder } from "./flush.ts";
import { type Former, keepFormer } from "./former.ts";
import type { Attributes, Stage } from "./stage.ts";

/** A mount point cannot be renamed onto, nor can a file of another file system. */
const NOT_RENAMED: ReadonlySet<string | undefined> = new Set(["EBUSY", "EXDEV"]);

export interface Replaced {
  /** The destination was written in place: not atomic. */
  readonly inPlace: boolean;
  /** Mode or owner could not be set in place. */
  readonly attributesRefused: boolean;
}

export interface ReplaceOptions {
  readonly stage: Stage;
  readonly target: string;
  readonly content: Buffer;
  readonly attributes: Attributes;
  readonly flush: FlushTime;
  /** Called directly before the destination becomes another one; what it throws leaves it as it is. */
  readonly beforeReplace: () => void;
}

/** Renames the candidate onto the destination, or writes its content there when that cannot be. Then it is on the disk. */
export async function replaceFile(options: ReplaceOptions): Promise<Replaced> {
  const { stage } = options;
  if (stage.elsewhere) options.beforeReplace();
  else if (await takePlace(options)) return { inPlace: false, attributesRefused: false };
  const attributesRefused = await writeInPlace(options);
  rmSync(stage.path, { force: true });
  return { inPlace: true, attributesRefused };
}

/** Whether the candidate could be renamed. When flushing fails the former text stands there again. */
async function takePlace(options: ReplaceOptions): Promise<boolean> {
  const { stage, target, content, attributes, flush: time } = options;
  const former = time === "after" ? keepFormer(target, content, attributes.uid) : undefined;
  if (time !== "never" && former === undefined) await stage.flush();
  try {
    options.beforeReplace();
    renameSync(stage.path, target);
  } catch (error) {
    former?.drop();
    if (NOT_RENAMED.has(codeOf(error))) return false;
    throw error;
  }
  if (former !== undefined) await flushOrRestore(stage, former, target);
  if (time !== "never") await flushFolder(dirname(target));
  former?.drop();
  return true;
}

async function flushOrRestore(stage: Stage, former: Former, target: string): Promise<void> {
  const placed = inodeOf(target);
  try {
    await stage.flush();
  } catch (error) {
    // Meanwhile a file may have been put there by others.
    if (inodeOf(target) === placed) former.restore();
    else former.drop();
    throw error;
  }
}

const inodeOf = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;

/** Writes over the old content; on failure the old bytes are put back. Whether mode or owner were refused. */
async function writeInPlace(options: ReplaceOptions): Promise<boolean> {
  const { target, content, attributes } = options;
  const before = readFileSync(target);
  const file = openSync(target, "r+");
  try {
    try {
      writeWhole(file, content);
    } catch (error) {
      restore(file, before);
      throw error;
    }
    if (options.flush !== "never") await flush(file);
    return setAttributes(file, attributes);
  } finally {
    closeSync(file);
  }
}

function writeWhole(file: number, content: Buffer): void {
  for (let at = 0; at < content.length; ) at += writeSync(file, content, at, content.length - at, at);
  ftruncateSync(file, content.length);
}

function restore(file: number, content: Buffer): void {
  try {
    writeWhole(file, content);
  } catch {
    // The first error says what is wrong.
  }
}

function setAttributes(file: number, { mode, uid, gid }: Attributes): boolean {
  const now = fstatSync(file);
  try {
    if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid);
    if ((now.mode & 0o777) !== mode) fchmodSync(file, mode);
    return false;
  } catch {
    return true;
  }
}
