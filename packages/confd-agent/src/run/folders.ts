/** Tells when something in folders changes: with the system's notices, and by looking where there are none. */
import { type FSWatcher, watch } from "node:fs";
import { folderAt } from "../files/links.ts";

/** Notices that come together are one change, in milliseconds. */
const GATHER_MS = 100;
/** Pause between two looks where the system gives no notices. */
const POLL_MS = 2000;

export interface FolderWatch {
  /** The folders to watch from now on. */
  update(folders: readonly string[]): void;
  close(): void;
}

/**
 * Calls back after changes in any of the folders, of names that are of concern there; with a file system without notices,
 * every two seconds.
 */
export function watchFolders(
  onChange: () => void,
  concerns: (folder: string, name: string) => boolean,
): FolderWatch {
  const watchers = new Map<string, { readonly watcher: FSWatcher | undefined; readonly at: string }>();
  let gather: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  const changed = (): void => {
    gather ??= setTimeout(() => {
      gather = undefined;
      onChange();
    }, GATHER_MS);
  };
  const arm = (folder: string): FSWatcher | undefined => {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || concerns(folder, name)) changed();
      });
      watcher.on("error", () => {
        watcher.close();
        if (watchers.get(folder)?.watcher === watcher) watchers.delete(folder);
        changed();
      });
      return watcher;
    } catch {
      return undefined;
    }
  };
  return {
    update: (folders) => {
      const wanted = new Set(folders);
      for (const [folder, { watcher, at }] of watchers) {
        // The notices of a folder that was replaced are of the old one.
        if (wanted.has(folder) && watcher !== undefined && folderAt(folder) === at) continue;
        watcher?.close();
        watchers.delete(folder);
      }
      for (const folder of folders) {
        if (!watchers.has(folder)) watchers.set(folder, { at: folderAt(folder), watcher: arm(folder) });
      }
      const blind = [...watchers.values()].some(({ watcher }) => watcher === undefined);
      clearInterval(poll);
      poll = blind ? setInterval(onChange, POLL_MS) : undefined;
    },
    close: () => {
      for (const { watcher } of watchers.values()) watcher?.close();
      watchers.clear();
      clearTimeout(gather);
      clearInterval(poll);
    },
  };
}
