/** What a path leads through, and where to. */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The links in a path: when one of them is changed, all that is below is another. */
export function linksIn(path: string): string[] {
  const found: string[] = [];
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) found.push(at);
  }
  return found;
}

/** Tells which folder is at a path: another text when it was replaced; empty when there is none. */
export function folderAt(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}:${realpathSync(path)}`;
  } catch {
    return "";
  }
}
