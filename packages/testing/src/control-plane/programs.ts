/** The programs of a control plane, their versions and where builds of them are kept. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const PROGRAMS = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
  "kubectl",
] as const;

/** Name of a program, as its file is called. */
export type Program = (typeof PROGRAMS)[number];

/** Versions as the Go modules carry them, for example `v1.37.2`. */
export interface ControlPlaneVersions {
  kubernetes: string;
  etcd: string;
  kwok: string;
}

/** Environment variables; a subset of `process.env` in tests. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Folder with the `go.mod` that names the versions. */
export const MODULE_DIR: string = resolve(import.meta.dirname, "../../../../tools/control-plane");

const MODULES: Record<keyof ControlPlaneVersions, string> = {
  kubernetes: "k8s.io/kubernetes",
  etcd: "go.etcd.io/etcd/server/v3",
  kwok: "sigs.k8s.io/kwok",
};

/** Reads the versions out of the text of a `go.mod`. Throws when one of the three modules is not required there. */
export function parseVersions(goMod: string): ControlPlaneVersions {
  const version = (module: string): string => {
    const line = goMod
      .split("\n")
      .map((text) => text.trim().split(/\s+/))
      .find(([name, value]) => name === module && value !== undefined);
    if (line?.[1] === undefined) {
      throw new Error(`go.mod: module ${module} is not required: add its version`);
    }
    return line[1];
  };
  return {
    kubernetes: version(MODULES.kubernetes),
    etcd: version(MODULES.etcd),
    kwok: version(MODULES.kwok),
  };
}

/** The versions that `tools/control-plane/go.mod` pins. */
export function pinnedVersions(): ControlPlaneVersions {
  return parseVersions(readFileSync(join(MODULE_DIR, "go.mod"), "utf8"));
}

/** Folder of the built programs: below `XDG_CACHE_HOME`, else below `~/.cache`, one per set of versions. */
export function cacheFolder(env: Environment, versions: ControlPlaneVersions): string {
  const cache = env.XDG_CACHE_HOME ? env.XDG_CACHE_HOME : join(env.HOME ? env.HOME : homedir(), ".cache");
  const name = `kubernetes-${versions.kubernetes}_etcd-${versions.etcd}_kwok-${versions.kwok}`;
  return join(cache, "quartet", "control-plane", name);
}

/** Variable that names the file of one program: `QUARTET_TEST_KUBE_APISERVER`. */
export function variableOf(program: Program): string {
  return `QUARTET_TEST_${program.toUpperCase().replaceAll("-", "_")}`;
}
