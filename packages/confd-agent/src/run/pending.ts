/** Reloads that are due, kept in a file over restarts. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { ConfigError, codeOf, messageOf } from "../errors.ts";

export interface PendingReloads {
  has(dest: string): boolean;
  set(dest: string, due: boolean): void;
}

/** Without a file nothing is kept. Throws a {@link ConfigError} when the file cannot be read. */
export function createPendingReloads(file: string, warn: (message: string) => void): PendingReloads {
  if (file === "") return { has: () => false, set: () => {} };
  const due = new Set(readPending(file));
  return {
    has: (dest) => due.has(dest),
    set: (dest, isDue) => {
      if (due.has(dest) === isDue) return;
      if (isDue) due.add(dest);
      else due.delete(dest);
      try {
        writeFileSync(`${file}.new`, JSON.stringify({ reloads: [...due] }), { mode: 0o600, flush: true });
        renameSync(`${file}.new`, file);
      } catch (error) {
        warn(`state-file ${file}: ${messageOf(error)}`);
      }
    },
  };
}

function readPending(file: string): string[] {
  try {
    const { reloads } = JSON.parse(readFileSync(file, "utf8")) as { reloads?: unknown };
    return Array.isArray(reloads) ? reloads.filter((dest) => typeof dest === "string") : [];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new ConfigError(`state-file ${file}: ${messageOf(error)}: remove it or name another`);
  }
}
