/** Builds the programs of a control plane from their published Go modules. */
import { spawn } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "./lock.ts";
import { type ControlPlaneVersions, type Environment, MODULE_DIR, type Program } from "./programs.ts";

const PACKAGES: Record<Program, string> = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
  kwok: "sigs.k8s.io/kwok/cmd/kwok",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
};

/** Packages whose variables hold what a Kubernetes program says about its version. */
const VERSION_PACKAGES = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
/** Published modules carry no commit; the programs want one of 40 hex digits and a date. */
const NO_COMMIT = "0".repeat(40);
const NO_DATE = "1970-01-01T00:00:00Z";
/** Lines of the compiler's output that an error carries. */
const OUTPUT_LINES = 20;

export interface BuildOptions {
  /** Where the programs go. */
  folder: string;
  versions: ControlPlaneVersions;
  env: Environment;
  /** What is to be built; asked again once the lock is held, since another process may have built it. */
  missing(): Program[];
  onProgress(line: string): void;
}

/** Builds what is missing, one program after the other, under a lock. Each appears in the folder only when complete. */
export async function buildPrograms(options: BuildOptions): Promise<void> {
  const { folder, env, onProgress } = options;
  const { code } = await run("go", ["version"], env, MODULE_DIR);
  if (code !== 0) {
    throw new Error(
      `missing programs of the control plane: ${options.missing().join(", ")}: install Go, or set KUBEBUILDER_ASSETS to a folder that has them`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const onWait = (pid: number): void =>
    onProgress(`waiting for process ${pid}, which builds the same programs`);
  await withFileLock(
    `${folder}.lock`,
    async () => {
      for (const program of options.missing()) await buildProgram(program, options);
    },
    onWait,
  );
}

async function buildProgram(program: Program, options: BuildOptions): Promise<void> {
  const { folder, env, onProgress } = options;
  onProgress(`building ${program} ${versionOf(program, options.versions)} (once; takes up to a few minutes)`);
  const started = Date.now();
  const part = join(folder, `${program}.part`);
  const args = ["build", "-trimpath", "-ldflags", linkerFlags(program, options.versions), "-o", part];
  const { code, output } = await run(
    "go",
    [...args, PACKAGES[program]],
    { ...env, CGO_ENABLED: "0" },
    MODULE_DIR,
  );
  if (code !== 0) {
    throw new Error(`go build of ${program} failed with exit code ${code}:\n${output}`);
  }
  renameSync(part, join(folder, program));
  onProgress(`built ${program} in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** `-ldflags` of a program: no symbol table, and its version where the program has a variable for it. */
export function linkerFlags(program: Program, versions: ControlPlaneVersions): string {
  const flags = ["-s", "-w"];
  if (program === "kwok") flags.push(`-X sigs.k8s.io/kwok/pkg/consts.Version=${versions.kwok}`);
  if (program === "etcd" || program === "kwok") return flags.join(" ");
  const [major, minor] = versions.kubernetes.replace(/^v/, "").split(".");
  const values = {
    gitVersion: versions.kubernetes,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: NO_COMMIT,
    gitTreeState: "archive",
    buildDate: NO_DATE,
  };
  for (const path of VERSION_PACKAGES) {
    for (const [name, value] of Object.entries(values)) flags.push(`-X ${path}.${name}=${value}`);
  }
  return flags.join(" ");
}

function versionOf(program: Program, versions: ControlPlaneVersions): string {
  if (program === "etcd" || program === "kwok") return versions[program];
  return versions.kubernetes;
}

/** Runs a command to its end; a command that cannot be started counts as exit code 127. */
function run(
  command: string,
  args: string[],
  env: Environment,
  cwd: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (chunk: string): void => {
      output = `${output}${chunk}`.split("\n").slice(-OUTPUT_LINES).join("\n");
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => resolve({ code: 127, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
