/** One file of conf.d read into a resource. */
import { isAbsolute, join, relative, resolve } from "node:path";
import { bytesOf } from "@quartet/go-template";
import { parseDuration } from "../config/duration.ts";
import { backendSettings, type Settings } from "../config/settings.ts";
import { isTable, nearest, normalName, parseTomlFile, type Table } from "../config/toml.ts";
import { typeName } from "../config/values.ts";
import { ConfigError } from "../errors.ts";
import { joinPath } from "../functions/paths.ts";
import { checkCommandProblem, hasUnsafePath } from "../run/command-text.ts";
import { findId } from "./owners.ts";
import { parseReload } from "./reload.ts";
import type { Resource } from "./resource.ts";

const FORMATS = ["json", "yaml", "yml", "toml", "xml"] as const;
const FIELDS = [
  "src",
  "dest",
  "keys",
  "prefix",
  "mode",
  "uid",
  "gid",
  "owner",
  "group",
  "check-cmd",
  "reload-cmd",
  "reload-http",
  "reload-signal",
  "check-cmd-timeout",
  "reload-cmd-timeout",
  "min-reload-interval",
  "debounce",
  "output-format",
  "make-dirs",
] as const;
type FieldName = (typeof FIELDS)[number];

export interface ParsedResource {
  readonly resource: Resource;
  readonly warnings: readonly string[];
}

/** Parses the text of a file; throws a {@link ConfigError} with the file, the field and the remedy. */
export function parseResource(name: string, file: string, text: string, settings: Settings): ParsedResource {
  const warnings: string[] = [];
  const document = parseTomlFile(file, text);
  const fail = (problem: string): never => {
    throw new ConfigError(`${file}: ${problem}`);
  };
  const tables = new Map(Object.entries(document).map(([key, value]) => [normalName(key), value]));
  for (const key of tables.keys()) {
    if (key !== "template" && key !== "backend") warnings.push(`${file}: unknown table ${key}`);
  }
  const template = tables.get("template");
  if (!isTable(template)) return fail("no [template] table");
  const read = fieldReader(file, template, warnings);

  const src = read.string("src") ?? "";
  if (src === "") fail("empty src template");
  const dest = read.string("dest") ?? "";
  if (dest === "") fail("empty dest");
  const templates = join(settings.confdir, "templates");
  const templateFile = join(templates, src);
  if (leaves(relative(templates, templateFile))) fail(`src: ${src} lies outside of ${templates}`);
  const destination = resolve(dest);
  const prefix = effectivePrefix(read.string("prefix") ?? "", settings);
  const checkCmd = read.string("check-cmd") ?? "";
  const invalid = checkCommandProblem(checkCmd);
  if (invalid !== undefined) fail(`invalid check_cmd: ${invalid}`);
  const reloadCmd = read.string("reload-cmd") ?? "";
  if (hasUnsafePath(destination) && (checkCmd + reloadCmd).includes("{{")) {
    warnings.push(
      `${file}: dest holds characters that the shell reads as its own: write "$CONFD_SRC" and "$CONFD_DEST" in commands in place of {{.src}} and {{.dest}}`,
    );
  }
  const reload = parseReload(
    {
      command: reloadCmd,
      http: read.string("reload-http") ?? "",
      signal: read.string("reload-signal") ?? "",
      dest: destination,
    },
    fail,
  );
  const mode = modeOf(template, text, fail, (warning) => warnings.push(`${file}: ${warning}`));
  const format = read.string("output-format") ?? "";
  if (format !== "" && !FORMATS.includes(format as "json")) {
    fail(`output_format: ${JSON.stringify(format)} is unknown: use ${FORMATS.join(", ")}`);
  }
  const id = (
    number: "uid" | "gid",
    label: "owner" | "group",
    kind: "passwd" | "group",
    own: number,
  ): number => {
    const given = read.integer(number);
    const named = read.string(label) ?? "";
    if (given !== undefined && given >= 0) return given;
    if (named === "") return own;
    return findId(kind, named) ?? fail(`cannot find ${label} ${named}`);
  };
  const backend = tables.get("backend");
  if (backend !== undefined && !isTable(backend))
    fail(`backend: expected a table, found ${typeName(backend)}`);
  const resource: Resource = {
    name,
    file,
    template: templateFile,
    dest: destination,
    prefix,
    ranges: (read.strings("keys") ?? []).map((key) => rangeOf(prefix, key, fail)),
    ...(mode === undefined ? {} : { mode }),
    uid: id("uid", "owner", "passwd", process.geteuid?.() ?? 0),
    gid: id("gid", "group", "group", process.getegid?.() ?? 0),
    checkCmd,
    ...(reload === undefined ? {} : { reload }),
    checkCmdTimeout: read.duration("check-cmd-timeout") ?? settings.checkCmdTimeout,
    reloadCmdTimeout: read.duration("reload-cmd-timeout") ?? settings.reloadCmdTimeout,
    minReloadInterval: read.duration("min-reload-interval") ?? 0,
    debounce: read.duration("debounce") ?? settings.debounce,
    outputFormat: format as Resource["outputFormat"],
    makeDirs: read.boolean("make-dirs") ?? false,
    ...(isTable(backend)
      ? { backend: backendSettings(`${file}: [backend]`, backend, settings, warnings) }
      : {}),
    source: text,
  };
  return { resource, warnings };
}

const leaves = (path: string): boolean => path === ".." || path.startsWith("../") || isAbsolute(path);

function fieldReader(file: string, table: Table, warnings: string[]) {
  const values = new Map<string, unknown>();
  for (const [key, value] of Object.entries(table)) {
    const name = normalName(key);
    if (!FIELDS.includes(name as FieldName)) {
      const near = nearest(name, FIELDS)?.replaceAll("-", "_");
      warnings.push(`${file}: unknown field ${key}${near === undefined ? "" : `: did you mean ${near}?`}`);
    }
    values.set(name, value);
  }
  const shown = (name: FieldName): string => name.replaceAll("-", "_");
  const mismatch = (name: FieldName, expected: string): never => {
    throw new ConfigError(
      `${file}: ${shown(name)}: expected ${expected}, found ${typeName(values.get(name))}`,
    );
  };
  return {
    string: (name: FieldName): string | undefined => {
      const value = values.get(name);
      return value === undefined || typeof value === "string" ? value : mismatch(name, "a string");
    },
    strings: (name: FieldName): string[] | undefined => {
      const value = values.get(name);
      if (value === undefined) return undefined;
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? value
        : mismatch(name, "a list of strings");
    },
    integer: (name: FieldName): number | undefined => {
      const value = values.get(name);
      if (value === undefined) return undefined;
      return typeof value === "number" && Number.isInteger(value) ? value : mismatch(name, "a number");
    },
    boolean: (name: FieldName): boolean | undefined => {
      const value = values.get(name);
      return value === undefined || typeof value === "boolean" ? value : mismatch(name, "true or false");
    },
    duration: (name: FieldName): number | undefined => {
      const value = values.get(name);
      if (value === undefined) return undefined;
      if (typeof value !== "string" && typeof value !== "number") mismatch(name, "a duration");
      return (
        parseDuration(String(value)) ??
        mismatch(name, `a duration such as 500ms or 1m30s, not ${JSON.stringify(value)}`)
      );
    },
  };
}

/** Permission bits of `mode`: always octal, whether written as text or as a number. */
function modeOf(
  table: Table,
  source: string,
  fail: (problem: string) => never,
  warn: (problem: string) => void,
): number | undefined {
  const [, value] = Object.entries(table).find(([key]) => normalName(key) === "mode") ?? [];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string" && typeof value !== "number") {
    return fail(`mode: expected a string, found ${typeName(value)}`);
  }
  // A number is taken as it was written: TOML has turned 0o644 into 420.
  const written = /^[ \t]*["']?mode["']?[ \t]*=[ \t]*([0-9a-zA-Z_]+)/im.exec(source)?.[1];
  const text = (typeof value === "string" ? value : (written ?? String(value))).trim();
  if (!/^(0o)?[0-7]{1,7}$/.test(text))
    return fail(`mode: ${JSON.stringify(text)} is not octal: write it as "0644"`);
  const bits = Number.parseInt(text.replace("0o", ""), 8);
  if (bits > 0o777) warn(`mode: bits beyond 0777 of ${text} are left out`);
  return bits & 0o777;
}

/** The prefix of a resource; byte string. */
function effectivePrefix(own: string, { prefix, prefixMode }: Settings): string {
  const chosen = prefixMode === "join" ? `/${prefix}/${own}` : prefix === "" ? own : prefix;
  return joinPath("/", bytesOf(chosen));
}

function rangeOf(prefix: string, key: string, fail: (problem: string) => never): string {
  const bytes = bytesOf(key);
  const bare = bytes.endsWith("/*") ? bytes.slice(0, -1) : bytes;
  const depth = bare.split("/").reduce((level, part) => {
    if (level < 0 || part === "" || part === ".") return level;
    return part === ".." ? level - 1 : level + 1;
  }, 0);
  if (depth < 0) fail(`keys: key escapes prefix: ${key}`);
  return joinPath(prefix, bare === "" ? "/" : bare);
}
