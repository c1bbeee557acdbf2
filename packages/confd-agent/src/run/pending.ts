/** Reloads that are due, by their files; kept over restarts where there is a file for it. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { codeOf, messageOf } from "../errors.ts";

export interface PendingReloads {
  has(dest: string): boolean;
  set(dest: string, due: boolean): void;
}

/** Where the file cannot be read, each reload is due: one too many does no harm, one that is forgotten does. */
export function createPendingReloads(file: string, warn: (message: string) => void): PendingReloads {
  const read = readPending(file, warn);
  const due = new Set(read);
  /** Reloads of which it is known whether they are due. */
  const known = new Set<string>();
  return {
    has: (dest) => due.has(dest) || (read === undefined && !known.has(dest)),
    set: (dest, isDue) => {
      known.add(dest);
      if (due.has(dest) === isDue) return;
      if (isDue) due.add(dest);
      else due.delete(dest);
      if (file === "") return;
      try {
        writeFileSync(`${file}.new`, JSON.stringify({ reloads: [...due] }), { mode: 0o600, flush: true });
        renameSync(`${file}.new`, file);
      } catch (error) {
        warn(`state-file ${file}: ${messageOf(error)}`);
      }
    },
  };
}

/** What is due; undefined where that cannot be told. */
function readPending(file: string, warn: (message: string) => void): readonly string[] | undefined {
  if (file === "") return [];
  try {
    const { reloads } = JSON.parse(readFileSync(file, "utf8")) as { reloads?: unknown };
    if (Array.isArray(reloads)) return reloads.filter((dest) => typeof dest === "string");
    throw new Error("it holds no list of reloads");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    warn(`state-file ${file}: ${messageOf(error)}: all files are reloaded once`);
    return undefined;
  }
}
