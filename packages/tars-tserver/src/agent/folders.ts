/** Folders of local volumes. Nothing outside of the base folder is ever touched. */
import { chmod, chown, lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Ownership } from "./volume.ts";

const MODE_BITS = 0o7777;

export interface Folders {
  /** The folder is there, with this owner and mode. */
  ensure(folder: string, owner: Ownership): Promise<void>;
  /** The folder and all that is in it is gone; links are removed, not followed. */
  remove(folder: string): Promise<void>;
}

/** Folders below a base folder, given by their path from there. */
export function foldersIn(base: string): Folders {
  return {
    async ensure(folder, { uid, gid, mode }) {
      let path = base;
      for (const part of partsOf(folder)) {
        path = join(path, part);
        await mkdir(path).catch(unless("EEXIST"));
        await assertFolder(path);
      }
      const found = await lstat(path);
      if (found.uid !== uid || found.gid !== gid) await chown(path, uid, gid);
      if ((found.mode & MODE_BITS) !== mode) await chmod(path, mode);
    },
    async remove(folder) {
      let path = base;
      for (const part of partsOf(folder)) {
        path = join(path, part);
        const there = await lstat(path).catch(unless("ENOENT"));
        if (there === undefined) return;
        await assertFolder(path);
      }
      await rm(path, { recursive: true, force: true });
    },
  };
}

function partsOf(folder: string): string[] {
  const parts = folder.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".."))
    throw new Error(`${JSON.stringify(folder)} is not below the base folder`);
  return parts;
}

/** A link could lead anywhere. */
async function assertFolder(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw new Error(`${path} is no folder`);
}

const unless =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };
