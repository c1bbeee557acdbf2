/** Follows the config file while the manager runs. */
import { readFile } from "node:fs/promises";
import { type Clock, type Logger, messageOf, sleep } from "@quartet/core";
import type { LoadedSettings } from "./load.ts";
import type { ManagerSettings } from "./settings.ts";

/** The file is read this often; a mounted ConfigMap changes about once a minute at best. */
const READ_EVERY_MS = 10_000;

/** Flags whose changes take effect at once (CORE-400). */
const LIVE: ReadonlySet<string> = new Set(["log-level", "max-concurrent-reconciles"]);

export interface FollowOptions {
  file: string;
  /** What is in force. */
  current: LoadedSettings;
  /** Reads all sources again. */
  load: () => Promise<LoadedSettings>;
  /** Called when log levels or concurrency have changed. */
  onChange: (settings: ManagerSettings) => void;
  clock: Clock;
  log: Logger;
}

/**
 * Runs until the signal aborts. A change of anything but log levels and concurrency is only logged; a file that
 * cannot be used is logged too, and what was in force stays.
 */
export async function followConfigFile(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { file, log, clock } = options;
  let { texts, fileText: content } = options.current;
  while (!signal.aborted) {
    await sleep(clock, READ_EVERY_MS, signal).catch(() => {});
    if (signal.aborted) return;
    const next = await contentOf(file);
    if (next === undefined || next === content) continue;
    content = next;
    try {
      const loaded = await options.load();
      const changed = [...loaded.texts.keys()].filter(
        (name) => loaded.texts.get(name)?.text !== texts.get(name)?.text,
      );
      texts = loaded.texts;
      const waiting = changed.filter((name) => !LIVE.has(name));
      if (changed.some((name) => LIVE.has(name))) options.onChange(loaded.settings);
      if (waiting.length > 0) log.warn("Configuration changed, restart needed", { file, flags: waiting });
      else log.info("Configuration read again", { file, flags: changed });
    } catch (error) {
      log.error("Configuration cannot be used, the old one stays", { file, error: messageOf(error) });
    }
  }
}

/** Content of the file; `undefined` while it cannot be read, as in the moment of its replacement. */
async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
