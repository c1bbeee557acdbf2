/** Flushes to the disk: the one thing with files that may take long. */
import { fsync } from "node:fs";
import { promisify } from "node:util";

/** Flushes an open file; rejects with the system's error. */
export const flush: (file: number) => Promise<void> = promisify(fsync);
