/** What tells that a file or folder is another one than before, or was written. */
import { statSync } from "node:fs";

/** Empty when there is none, or none that can be looked at. */
export function signatureOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch {
    return "";
  }
}
