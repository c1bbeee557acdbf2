/** Files with credentials, read again when they may have changed. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";

/** Files are read again when the last reading is older than this. CORE-102, CORE-105. */
const REREAD_MS = 60_000;

/** A value made of files. */
export interface FileValue<T> {
  /** The value; the files are read again first if that was long ago. The same object while they did not change. */
  get(): T;
  /** Reads the files now. */
  reread(): T;
}

/**
 * Value made by `parse` from the contents of files, in their order. The first reading happens at once and may throw.
 * A later reading that fails keeps the value (a rotation may be half done) and is logged.
 */
export function fileValue<T>(
  paths: readonly string[],
  parse: (contents: Buffer[]) => T,
  clock: Clock,
  log: Logger | undefined,
): FileValue<T> {
  const read = (): { contents: Buffer[]; hash: string } => {
    const contents = paths.map((path) => readFileSync(path));
    const hash = createHash("sha256");
    for (const content of contents) hash.update(`${content.length}:`).update(content);
    return { contents, hash: hash.digest("hex") };
  };
  const first = read();
  let hash = first.hash;
  let value = parse(first.contents);
  let readAt = clock.monotonic();

  const reread = (): T => {
    readAt = clock.monotonic();
    try {
      const next = read();
      if (next.hash !== hash) {
        value = parse(next.contents);
        hash = next.hash;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log?.warn("credential files could not be read again, the former ones stay in use", { paths, reason });
    }
    return value;
  };

  return {
    get: () => (clock.monotonic() - readAt >= REREAD_MS && paths.length > 0 ? reread() : value),
    reread,
  };
}
