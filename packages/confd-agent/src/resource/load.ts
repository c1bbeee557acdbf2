/** The folder conf.d: which files are resources, and what is wrong with those that are not. */
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { ConfigError, messageOf } from "../errors.ts";
import { parseResource } from "./parse.ts";
import type { Resource } from "./resource.ts";

/** How deep folders may lie in each other. */
const MAX_DEPTH = 32;

export interface LoadedResources {
  /** In byte order of their paths. */
  readonly resources: readonly Resource[];
  /** Resources that were refused, each with its file. */
  readonly errors: readonly { readonly name: string; readonly message: string }[];
  readonly warnings: readonly string[];
  /** Folders that hold resources, for watching. */
  readonly folders: readonly string[];
}

/** Loads all resources, or only the named file. */
export function loadResources(settings: Settings): LoadedResources {
  const root = join(settings.confdir, "conf.d");
  const warnings: string[] = [];
  const errors: { name: string; message: string }[] = [];
  const { files, folders } = findFiles(root, warnings);
  const wanted = files.filter(
    ({ name, path }) => settings.resource === "" || name === settings.resource || path === settings.resource,
  );
  if (settings.resource !== "" && wanted.length === 0) {
    throw new ConfigError(`resource: there is no ${settings.resource} in ${root}`);
  }
  const resources: Resource[] = [];
  for (const { name, path } of wanted) {
    try {
      const parsed = parseResource(name, path, readFileSync(path, "utf8"), settings);
      resources.push(parsed.resource);
      warnings.push(...parsed.warnings);
    } catch (error) {
      errors.push({
        name,
        message: error instanceof ConfigError ? error.message : `${path}: ${messageOf(error)}`,
      });
    }
  }
  return { resources: withoutRivals(resources, errors), errors, warnings, folders };
}

/** Drops resources that would write the same file. */
function withoutRivals(
  resources: readonly Resource[],
  errors: { name: string; message: string }[],
): Resource[] {
  const byDestination = Map.groupBy(resources, ({ dest }) => realDestination(dest));
  const rivals = new Map<Resource, Resource[]>();
  for (const group of byDestination.values()) {
    for (const one of group) if (group.length > 1) rivals.set(one, group);
  }
  return resources.filter((resource) => {
    const group = rivals.get(resource);
    if (group === undefined) return true;
    const others = group.filter((one) => one !== resource).map(({ file }) => file);
    errors.push({
      name: resource.name,
      message: `${resource.file}: dest ${resource.dest} is written by ${others.join(", ")} too: a file can have one resource`,
    });
    return false;
  });
}

function realDestination(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

interface Found {
  files: { name: string; path: string }[];
  folders: string[];
}

/** Files that end in `.toml`, below the folder; links are followed, each real file counts once. */
function findFiles(root: string, warnings: string[]): Found {
  const seen = new Set<string>();
  const found: Found = { files: [], folders: [] };
  const visit = (folder: string, below: string, depth: number, parents: readonly string[]): void => {
    const real = realpathSync(folder);
    if (parents.includes(real) || depth > MAX_DEPTH) {
      warnings.push(`${folder}: links that lead back to themselves are not followed`);
      return;
    }
    found.folders.push(folder);
    for (const entry of sortedEntries(folder)) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      const name = join(below, entry.name);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory()) visit(path, name, depth + 1, [...parents, real]);
      else if (stat?.isFile() && entry.name.endsWith(".toml")) {
        const file = realpathSync(path);
        if (!seen.has(file)) found.files.push({ name, path });
        seen.add(file);
      }
    }
  };
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() === true) visit(root, "", 0, []);
  found.files.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  return found;
}

const sortedEntries = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
