/** The files that the agent works from, besides its backends: conf.d and templates. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { watchFolders } from "./folders.ts";
import type { Inventory } from "./inventory.ts";
import type { Tracked } from "./tracked.ts";

export interface Sources {
  /** Takes the templates as they are now for those that were rendered. */
  remember(): void;
  /** Whether a file that the resource is made of is another than was remembered. */
  haveChanged(tracked: Tracked): boolean;
  /** Watches the folders that are of interest now. */
  follow(): void;
  close(): void;
}

const CONF_D = "conf.d";
const TEMPLATES = "templates";

export function createSources({ confdir }: Settings, inventory: Inventory, onChange: () => void): Sources {
  const signatures = new Map<string, string>();
  // In the folder of both anything else may lie, the files that are written too. Mounted ConfigMaps are swapped by a
  // link that begins with two dots.
  const concerns = (folder: string, name: string): boolean =>
    folder !== confdir || name === CONF_D || name === TEMPLATES || name.startsWith("..");
  const folders = watchFolders(onChange, concerns);
  return {
    remember: () => {
      for (const { memory } of inventory.tracked())
        for (const file of memory.files) signatures.set(file, signatureOf(file));
    },
    haveChanged: ({ memory }) =>
      memory.files.some((file) => {
        const before = signatures.get(file);
        return before !== undefined && before !== signatureOf(file);
      }),
    follow: () => {
      const templates = [...inventory.tracked()].flatMap(({ memory }) => memory.files.map(dirname));
      const roots = [confdir, join(confdir, CONF_D), join(confdir, TEMPLATES)];
      const all = new Set([...roots, ...inventory.loaded().folders, ...templates]);
      folders.update([...all].filter((folder) => existsSync(folder)));
    },
    close: folders.close,
  };
}

/** Signature of a file: another one means that it changed. */
function signatureOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
}

/** Whether a template asks for the time: its text is another one each time. One that cannot be read does not. */
export function tellsTime(template: string): boolean {
  try {
    return readFileSync(template, "latin1")
      .split("{{")
      .slice(1)
      .some((action) => /\bdatetime\b/.test(action.split("}", 1)[0] ?? ""));
  } catch {
    return false;
  }
}
