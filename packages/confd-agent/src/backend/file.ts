/** YAML and JSON files as a source. */
import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bytesOf } from "@quartet/go-template";
import { BackendError, codeOf, messageOf } from "../errors.ts";
import { folderAt, linksIn } from "../files/links.ts";
import { compilePattern } from "../functions/paths.ts";
import { type Backend, belongs, type WatchEvents } from "./backend.ts";
import { flattenText } from "./flatten.ts";

/** A file that is missing while it is replaced is looked for again. */
const RETRIES = 5;
const RETRY_MS = 100;
/** Notices that come together are one change. */
const GATHER_MS = 100;
/** Pause between two looks where the system gives no notices. */
const POLL_MS = 2000;
const MAX_DEPTH = 32;

export interface FileBackendOptions {
  /** Files and folders; of one key in several files the last one holds. */
  readonly paths: readonly string[];
  /** Pattern of the names of files in folders. */
  readonly filter: string;
}

export function createFileBackend({ paths, filter }: FileBackendOptions): Backend {
  const matches = compilePattern(bytesOf(filter));
  const files = (): string[] => paths.flatMap((path) => filesBelow(path, matches));
  return {
    label: `file ${paths.join(", ")}`,
    read: async (ranges) => {
      const all = new Map<string, string>();
      for (const file of await retried(async () => files())) {
        flattenText(file, await retried(() => readFile(file, "utf8")), "", all);
      }
      return { values: new Map([...all].filter(([key]) => ranges.some((range) => belongs(key, range)))) };
    },
    watch: (_ranges, events, signal) => watchFiles(() => foldersOf(paths), files, events, signal),
    health: async () => {
      files();
    },
    close: async () => {},
  };
}

/** Tries again while a file is missing: it may be in the middle of being replaced. */
async function retried<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (codeOf(error) === "ENOENT" && tries < RETRIES) await sleep(RETRY_MS);
      else throw error instanceof BackendError ? error : new BackendError(messageOf(error));
    }
  }
}

/** Files of an entry in byte order of their paths; what begins with a dot is left out. */
function filesBelow(path: string, matches: (name: string) => boolean): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const found: string[] = [];
  for (const folder of foldersBelow(path)) {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (!name.startsWith(".") && matches(bytesOf(name)) && statSync(file).isFile()) found.push(file);
    }
  }
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** A folder and those below it; links that lead back are not followed. */
function foldersBelow(path: string, parents: readonly string[] = []): string[] {
  const real = realpathSync(path);
  if (parents.includes(real) || parents.length > MAX_DEPTH) return [];
  const below = readdirSync(path)
    .filter(
      (name) => !name.startsWith(".") && statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory(),
    )
    .flatMap((name) => foldersBelow(join(path, name), [...parents, real]));
  return [path, ...below];
}

/** The folders in which a change of the files shows: of links also those that they lead to. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    folders.add(isFolder ? path : dirname(path));
    if (isFolder) for (const below of foldersBelow(path)) folders.add(below);
    for (const link of linksIn(path)) folders.add(dirname(link));
    try {
      const real = realpathSync(path);
      folders.add(isFolder ? real : dirname(real));
    } catch {
      // It is not there yet: its folder tells when it comes.
    }
  }
  return [...folders];
}

function watchFiles(
  folders: () => string[],
  files: () => string[],
  { onReady, onChange }: WatchEvents,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const watchers = new Map<string, { readonly watcher: FSWatcher; readonly at: string }>();
    let gather: NodeJS.Timeout | undefined;
    let known = "";
    /** Some folder gives no notices. */
    let blind = false;
    const end = (error?: unknown): void => {
      for (const { watcher } of watchers.values()) watcher.close();
      clearTimeout(gather);
      clearInterval(poll);
      signal.removeEventListener("abort", stop);
      if (error === undefined) resolve();
      else reject(new BackendError(messageOf(error), { cause: error }));
    };
    const stop = (): void => end();
    const changed = (): void => {
      gather ??= setTimeout(() => {
        gather = undefined;
        arm();
        known = signatures(files);
        onChange({});
      }, GATHER_MS);
    };
    const arm = (): void => {
      const wanted = folders();
      for (const [folder, { watcher, at }] of watchers) {
        // The notices of a folder that was replaced are of the old one.
        if (wanted.includes(folder) && folderAt(folder) === at) continue;
        watcher.close();
        watchers.delete(folder);
      }
      for (const folder of wanted) {
        if (watchers.has(folder)) continue;
        try {
          const at = folderAt(folder);
          const watcher = watch(folder, changed);
          watcher.on("error", () => {
            watcher.close();
            if (watchers.get(folder)?.watcher === watcher) watchers.delete(folder);
            blind = true;
          });
          watchers.set(folder, { watcher, at });
        } catch {
          // Without notices the look below finds the change.
        }
      }
      blind = wanted.some((folder) => !watchers.has(folder));
    };
    // Where the system gives no notices, or too few for all folders, the files are looked at.
    const poll = setInterval(() => {
      if (!blind) return;
      const now = signatures(files);
      if (now !== known) changed();
    }, POLL_MS);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) return stop();
    arm();
    known = signatures(files);
    onReady({ resumed: false });
  });
}

function signatures(files: () => string[]): string {
  try {
    return files()
      .map((file) => {
        const { mtimeMs, size, ino } = statSync(file);
        return `${basename(file)}:${mtimeMs}:${size}:${ino}`;
      })
      .join("\n");
  } catch {
    return "missing";
  }
}
