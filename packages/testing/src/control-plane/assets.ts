/** Finds the programs of a control plane, and builds what is missing. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { buildPrograms } from "./build.ts";
import {
  type ControlPlaneVersions,
  cacheFolder,
  type Environment,
  PROGRAMS,
  type Program,
  pinnedVersions,
  variableOf,
} from "./programs.ts";

/** Where the programs lie. */
export interface Assets {
  /** File of each program that was found. */
  programs: Partial<Record<Program, string>>;
  /** Programs that were not found. */
  missing: Program[];
  /** Folder of the project's own builds; it need not exist. */
  folder: string;
  /** Versions that the project pins; programs named by variables may be of others. */
  versions: ControlPlaneVersions;
  /** One line for summaries: versions of Kubernetes, etcd and kwok. */
  version: string;
}

/**
 * Looks for each program: the file of `QUARTET_TEST_<NAME>` (`QUARTET_TEST_KUBE_APISERVER`), then the folder
 * `KUBEBUILDER_ASSETS`, then the cache folder. Throws when `QUARTET_TEST_<NAME>` names no executable file.
 */
export function findAssets(env: Environment = process.env): Assets {
  const versions = pinnedVersions();
  const folder = cacheFolder(env, versions);
  const programs: Partial<Record<Program, string>> = {};
  for (const program of PROGRAMS) {
    const file = findProgram(program, env, folder);
    if (file !== undefined) programs[program] = file;
  }
  const own = Object.values(programs).some((file) => !file.startsWith(folder));
  const version = `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}, kwok ${versions.kwok}`;
  return {
    programs,
    missing: PROGRAMS.filter((program) => programs[program] === undefined),
    folder,
    versions,
    version: own ? `${version} (some programs from KUBEBUILDER_ASSETS or QUARTET_TEST_*)` : version,
  };
}

export interface EnsureAssetsOptions {
  /** Default `process.env`. */
  env?: Environment;
  /** Programs that have to be there. Default all. */
  need?: readonly Program[];
  /** Receives a line per step of a build. */
  onProgress?: (line: string) => void;
}

/**
 * Finds the programs and builds those that are needed and missing into the cache folder, once per machine: a second process waits for
 * the first. Throws when something is missing and there is no Go toolchain, or when a build fails.
 */
export async function ensureAssets(options: EnsureAssetsOptions = {}): Promise<Assets> {
  const env = options.env ?? process.env;
  const need = options.need ?? PROGRAMS;
  const missing = (): Program[] => findAssets(env).missing.filter((program) => need.includes(program));
  const found = findAssets(env);
  if (missing().length === 0) return found;
  await buildPrograms({
    folder: found.folder,
    versions: found.versions,
    env,
    missing,
    onProgress: options.onProgress ?? (() => {}),
  });
  return findAssets(env);
}

function findProgram(program: Program, env: Environment, folder: string): string | undefined {
  const variable = variableOf(program);
  const named = env[variable];
  if (named) {
    if (!isExecutable(named))
      throw new Error(`${variable}=${named}: no executable file; correct or unset it`);
    return named;
  }
  const folders = [env.KUBEBUILDER_ASSETS, folder].filter((path) => path !== undefined && path !== "");
  return folders.map((path) => join(path!, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
