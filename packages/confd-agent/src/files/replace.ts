/** Puts a candidate in the place of its destination. */
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../errors.ts";
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
  const { stage, target, flush } = options;
  if (!stage.elsewhere) {
    try {
      await rename(stage.path, target);
      if (flush) await flushFolder(dirname(target));
      return { inPlace: false, attributesRefused: false };
    } catch (error) {
      if (!NOT_RENAMED.has(codeOf(error))) throw error;
    }
  }
  const attributesRefused = await writeInPlace(options);
  await rm(stage.path, { force: true });
  return { inPlace: true, attributesRefused };
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch {
    // Some file systems cannot flush folders.
  } finally {
    await handle.close();
  }
}

/** Writes over the old content; on failure the old bytes are put back. Whether mode or owner were refused. */
async function writeInPlace({ target, content, attributes, flush }: ReplaceOptions): Promise<boolean> {
  const before = await readFile(target);
  const file = await open(target, "r+");
  try {
    try {
      await writeWhole(file, content);
    } catch (error) {
      await writeWhole(file, before).catch(() => {});
      throw error;
    }
    if (flush) await file.sync();
    return await setAttributes(file, attributes);
  } finally {
    await file.close();
  }
}

type File = Awaited<ReturnType<typeof open>>;

async function writeWhole(file: File, content: Buffer): Promise<void> {
  for (let at = 0; at < content.length; ) {
    const { bytesWritten } = await file.write(content, at, content.length - at, at);
    at += bytesWritten;
  }
  await file.truncate(content.length);
}

async function setAttributes(file: File, { mode, uid, gid }: Attributes): Promise<boolean> {
  const now = await file.stat();
  try {
    if (now.uid !== uid || now.gid !== gid) await file.chown(uid, gid);
    if ((now.mode & 0o777) !== mode) await file.chmod(mode);
    return false;
  } catch {
    return true;
  }
}
