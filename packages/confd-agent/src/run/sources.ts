/** The files that the agent works from, besides its backends: conf.d and templates. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { linksIn } from "../files/links.ts";
import { signatureOf } from "../files/signature.ts";
import { watchFolders } from "./folders.ts";
import type { Inventory } from "./inventory.ts";
import type { Tracked } from "./tracked.ts";

export interface Sources {
  /** Whether a file that the resource is made of is another than when it was rendered. */
  haveChanged(tracked: Tracked): boolean;
  /** Watches the folders that are of interest now. */
  follow(): void;
  close(): void;
}

const CONF_D = "conf.d";
const TEMPLATES = "templates";

export function createSources({ confdir }: Settings, inventory: Inventory, onChange: () => void): Sources {
  // In the folder of both anything else may lie, the files that are written too. Mounted ConfigMaps are swapped by a
  // link that begins with two dots.
  const concerns = (folder: string, name: string): boolean =>
    links.some((link) => dirname(link) === folder && basename(link) === name) ||
    (own.has(folder) &&
      (folder !== confdir || name === CONF_D || name === TEMPLATES || name.startsWith("..")));
  let own = new Set<string>();
  let links: readonly string[] = [];
  const folders = watchFolders(onChange, concerns);
  return {
    haveChanged: ({ memory }) =>
      [...memory.files].some(([file, signature]) => signature !== signatureOf(file)),
    follow: () => {
      const templates = [...inventory.tracked()].flatMap(({ resource, memory }) =>
        [resource.template, ...memory.files.keys()].map(dirname),
      );
      const roots = [confdir, join(confdir, CONF_D), join(confdir, TEMPLATES)];
      own = new Set([...roots, ...inventory.loaded().folders, ...templates]);
      links = linksIn(confdir);
      folders.update([...new Set([...own, ...links.map(dirname)])].filter((folder) => existsSync(folder)));
    },
    close: folders.close,
  };
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
