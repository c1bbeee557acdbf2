/** Puts a candidate in the place of its destination. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../errors.ts";
import { flush } from "./flush.ts";
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
  readonly flush: boolean;
}

/** Renames the candidate onto the destination, or writes its content there when that cannot be. */
export async function replaceFile(options: ReplaceOptions): Promise<Replaced> {
  const { stage, target } = options;
  if (!stage.elsewhere) {
    try {
      renameSync(stage.path, target);
      if (options.flush) await flushFolder(dirname(target));
      return { inPlace: false, attributesRefused: false };
    } catch (error) {
      if (!NOT_RENAMED.has(codeOf(error))) throw error;
    }
  }
  const attributesRefused = await writeInPlace(options);
  rmSync(stage.path, { force: true });
  return { inPlace: true, attributesRefused };
}

/** Makes a rename last. Some file systems cannot flush folders, and some folders cannot be read: the file is in place. */
async function flushFolder(folder: string): Promise<void> {
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
    if (options.flush) await flush(file);
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
