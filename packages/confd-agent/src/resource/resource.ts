/** A template resource: one file of conf.d, understood. */
import type { BackendSettings } from "../config/settings.ts";
import type { Reload } from "./reload.ts";

export interface Resource {
  /** Path of its file below conf.d, e.g. `sites/web.toml`. */
  readonly name: string;
  readonly file: string;
  /** Path of the template's file. */
  readonly template: string;
  /** Absolute path of the file that is written. */
  readonly dest: string;
  /** Byte string; `/` or a path without a slash at its end. */
  readonly prefix: string;
  /** Keys with the prefix before them, as they are asked of the backend; byte strings. */
  readonly ranges: readonly string[];
  /** Permission bits, if any were given. */
  readonly mode?: number;
  readonly uid: number;
  readonly gid: number;
  readonly checkCmd: string;
  readonly reload?: Reload;
  /** Milliseconds; 0 is none. */
  readonly checkCmdTimeout: number;
  readonly reloadCmdTimeout: number;
  readonly minReloadInterval: number;
  readonly debounce: number;
  readonly outputFormat: "" | "json" | "yaml" | "yml" | "toml" | "xml";
  readonly makeDirs: boolean;
  /** Its own backend, else the agent's. */
  readonly backend?: BackendSettings;
  /** The text of the file: the same text is the same resource. */
  readonly source: string;
}
