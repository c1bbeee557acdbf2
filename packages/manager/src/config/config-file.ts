/** The config file: YAML of kind `ManagerConfig`. */

import { ConfigurationError, closest, didYouMean, splitPair } from "@quartet/core";
import { parseDocument } from "yaml";
import type { FlagText } from "./flag-values.ts";
import type { FlagSpec } from "./flags.ts";

/** `apiVersion` of the config file. */
const CONFIG_API_VERSION: string = "config.quartet.io/v1alpha1";
/** `kind` of the config file. */
const CONFIG_KIND: string = "ManagerConfig";

/** Key of a map flag's entry that holds for everything without an entry of its own. */
const DEFAULT_KEY = "default";

type Fields = Record<string, unknown>;

/**
 * Texts of the flags that a config file sets, by flag name. `file` is its name for messages. A field that belongs
 * to no flag is a `ConfigurationError`, and so is a file of another kind.
 */
export function readConfigFile(
  text: string,
  file: string,
  specs: readonly FlagSpec[],
): Map<string, FlagText> {
  const document = parseDocument(text, { prettyErrors: true });
  const problem = document.errors[0];
  if (problem !== undefined) throw new ConfigurationError(`${file} is not YAML: ${problem.message}`);
  const content: unknown = document.toJS() ?? {};
  if (!isMap(content)) throw new ConfigurationError(`${file}: a ManagerConfig is a map of fields`);
  if (content.apiVersion !== CONFIG_API_VERSION || content.kind !== CONFIG_KIND) {
    throw new ConfigurationError(
      `${file}: apiVersion must be ${CONFIG_API_VERSION} and kind ${CONFIG_KIND}, found ${String(content.apiVersion)} and ${String(content.kind)}`,
    );
  }
  const { apiVersion: _version, kind: _kind, ...fields } = content;
  const byPath = new Map<string, FlagSpec>();
  for (const spec of specs) {
    if (spec.path === undefined) continue;
    byPath.set(spec.name, spec);
    byPath.set(spec.path, spec);
  }
  const found = new Map<string, FlagText>();
  visit(fields, "", byPath, file, found);
  return found;
}

/** Walks down to the fields that are flags. */
function visit(
  fields: Fields,
  prefix: string,
  byPath: ReadonlyMap<string, FlagSpec>,
  file: string,
  found: Map<string, FlagText>,
): void {
  for (const [key, value] of Object.entries(fields)) {
    const path = prefix + key;
    const spec = byPath.get(path);
    const origin = `${path} in ${file}`;
    if (spec !== undefined) {
      if (value !== null) found.set(spec.name, { text: textOf(value, spec, origin), origin });
    } else if ([...byPath.keys()].some((known) => known.startsWith(`${path}.`))) {
      if (value === null) continue;
      if (!isMap(value)) throw new ConfigurationError(`${origin}: it must be a map of fields`);
      visit(value, `${path}.`, byPath, file, found);
    } else {
      throw new ConfigurationError(
        `unknown field ${origin}${didYouMean(closest(path, byPath.keys())) || "; --print-config shows all"}`,
      );
    }
  }
}

/** Value of a field as it would stand on the command line. */
function textOf(value: unknown, spec: FlagSpec, origin: string): string {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  if (spec.type === "list" && Array.isArray(value) && value.every(isScalar)) return value.join(",");
  if (spec.type === "map" && isMap(value) && Object.values(value).every(isScalar)) {
    return Object.entries(value)
      .map(([key, entry]) => (key === DEFAULT_KEY ? String(entry) : `${key}=${String(entry)}`))
      .join(",");
  }
  const wanted = spec.type === "list" || spec.type === "map" ? `a ${spec.type}` : "a single value";
  throw new ConfigurationError(`${origin}: it must be ${wanted}, such as ${spec.default || spec.help}`);
}

/** Content of a config file that sets every flag to the given texts; the form of `--print-config`. */
export function configFileContent(
  texts: ReadonlyMap<string, FlagText>,
  specs: readonly FlagSpec[],
): Record<string, unknown> {
  const content: Fields = { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND };
  for (const spec of specs) {
    const text = texts.get(spec.name)?.text;
    if (spec.path === undefined || text === undefined) continue;
    const keys = spec.path.split(".");
    let target = content;
    for (const key of keys.slice(0, -1)) {
      const below = (target[key] ?? {}) as Fields;
      target[key] = below;
      target = below;
    }
    target[keys.at(-1)!] = fieldValue(text, spec);
  }
  return content;
}

function fieldValue(text: string, spec: FlagSpec): unknown {
  const entries = text.split(",").filter((entry) => entry.trim() !== "");
  if (spec.type === "list") return entries.map((entry) => entry.trim());
  if (spec.type === "map") {
    return Object.fromEntries(
      entries.map((entry) => {
        const [key, value] = splitPair(entry);
        return value === undefined ? [DEFAULT_KEY, scalar(key)] : [key, scalar(value)];
      }),
    );
  }
  return spec.type === "boolean" || spec.type === "number" ? scalar(text) : text;
}

function scalar(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

const isMap = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
