/** Settings from all their sources: flag > environment > config file > default. */
import { readFile } from "node:fs/promises";
import { ConfigurationError, type FeatureGate, type ModuleFlag } from "@quartet/core";
import { parseCommandLine } from "./command-line.ts";
import { readConfigFile } from "./config-file.ts";
import type { NamedController } from "./controllers.ts";
import { readEnvironment } from "./environment.ts";
import { type FlagText, flagValues } from "./flag-values.ts";
import { type FlagSpec, MANAGER_FLAGS, moduleFlagSpecs } from "./flags.ts";
import { type ManagerSettings, readSettings } from "./settings.ts";

/** What of a controller module the settings depend on. */
interface ConfigurableModule extends NamedController {
  readonly flags: readonly ModuleFlag[];
  readonly gates?: readonly Omit<FeatureGate, "owner">[];
}

export interface LoadOptions {
  /** Command line without the program's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly modules: readonly ConfigurableModule[];
  /** Flags of a command beyond the manager's own. */
  readonly extraFlags?: readonly FlagSpec[];
  /** Defaults that differ from the manager's, by flag name; they may depend on the words of the command line. */
  readonly defaults?: (words: readonly string[]) => Readonly<Record<string, string>>;
}

/** Outcome of {@link loadSettings}. */
export interface LoadedSettings {
  readonly settings: ManagerSettings;
  /** Gates of all modules, of those that are switched off as well. */
  readonly gates: readonly FeatureGate[];
  /** Words of the command line that are no flags: the command and its arguments. */
  readonly words: readonly string[];
  /** Text of every flag with its origin. */
  readonly texts: ReadonlyMap<string, FlagText>;
  readonly specs: readonly FlagSpec[];
  /** The config file, if one is used. */
  readonly file: string | undefined;
  /** What it held when it was read. */
  readonly fileText: string | undefined;
}

/** Reads all sources. Every problem is a `ConfigurationError`. */
export async function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  const moduleFlags = options.modules.flatMap((module) => module.flags);
  const specs = [...MANAGER_FLAGS, ...(options.extraFlags ?? []), ...moduleFlagSpecs(moduleFlags)];
  const { words, flags } = parseCommandLine(options.args, specs);
  const defaults = options.defaults?.(words) ?? {};
  const texts = new Map<string, FlagText>();
  for (const spec of specs) {
    const text = defaults[spec.name] ?? spec.default;
    texts.set(spec.name, { text, origin: `default of --${spec.name}` });
  }
  const environment = readEnvironment(options.env, specs);
  const file = flags.get("config") ?? environment.get("config")?.text;
  const fileText = file ? await readText(file) : undefined;
  if (file && fileText !== undefined) merge(texts, readConfigFile(fileText, file, specs));
  merge(texts, environment);
  for (const [name, text] of flags) texts.set(name, { text, origin: `--${name}` });
  const gates = gatesOf(options.modules);
  const settings = readSettings(flagValues(texts), {
    controllers: options.modules,
    moduleFlags,
    gates,
  });
  return { settings, gates, words, texts, specs, file: file || undefined, fileText };
}

function gatesOf(modules: readonly ConfigurableModule[]): FeatureGate[] {
  return modules.flatMap(({ name: owner, gates = [] }) => gates.map((gate) => ({ ...gate, owner })));
}

function merge(into: Map<string, FlagText>, from: ReadonlyMap<string, FlagText>): void {
  for (const [name, text] of from) into.set(name, text);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigurationError(`--config: cannot read ${file}: ${(error as Error).message}`);
  }
}
