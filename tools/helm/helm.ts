/** Finds Helm, and builds it once per machine when there is none. */
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

const MODULE_DIR = import.meta.dirname;
const PACKAGE = "helm.sh/helm/v3/cmd/helm";
/** Major version that the project's tests are written for. */
const MAJOR = "v3.";
/** Lines of the compiler's output that an error carries. */
const OUTPUT_LINES = 20;

/**
 * File of the program: of `QUARTET_HELM`, else a Helm 3 in `PATH`, else the project's own build below the user's cache
 * folder, which is made when it is missing. Rejects when that fails, for example without a Go toolchain.
 * @param onProgress told before something is built, which takes minutes
 */
export async function ensureHelm(
  env: Environment = process.env,
  onProgress: (line: string) => void = () => {},
): Promise<string> {
  const named = env.QUARTET_HELM;
  if (named) {
    if (!isExecutable(named))
      throw new Error(`QUARTET_HELM=${named}: no executable file; correct or unset it`);
    return named;
  }
  const inPath = (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "helm"))
    .find((file) => isExecutable(file) && isHelm3(file));
  return inPath ?? buildOnce(env, onProgress);
}

async function buildOnce(env: Environment, onProgress: (line: string) => void): Promise<string> {
  const goMod = readFileSync(join(MODULE_DIR, "go.mod"), "utf8");
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  const folder = join(cache, "quartet", "helm", required(goMod, "helm.sh/helm/v3"));
  const file = join(folder, "helm");
  if (isExecutable(file)) return file;
  mkdirSync(folder, { recursive: true });
  onProgress("building Helm (once; takes up to a few minutes)");
  // Two processes may build at once: each writes a file of its own, and the last one to end is in place.
  const part = `${file}.${process.pid}`;
  const flags = linkerFlags(required(goMod, "k8s.io/client-go"));
  const args = ["build", "-trimpath", "-ldflags", flags, "-o", part, PACKAGE];
  const { code, output } = await run("go", args, { ...env, CGO_ENABLED: "0" });
  if (code !== 0) {
    throw new Error(
      `Helm cannot be built: install Helm 3 or Go, or set QUARTET_HELM to its file\ngo build: exit code ${code}\n${output}`,
    );
  }
  renameSync(part, file);
  return file;
}

/** No symbol table; `helm template` takes the version of the Kubernetes libraries, `v0.37.0`, for the cluster's. */
function linkerFlags(clientGo: string): string {
  const minor = clientGo.split(".")[1] ?? "";
  const packages = ["pkg/chartutil", "pkg/lint/rules"].map((path) => `helm.sh/helm/v3/${path}`);
  const versions = packages.map((path) => `-X ${path}.k8sVersionMajor=1 -X ${path}.k8sVersionMinor=${minor}`);
  return ["-s", "-w", ...versions].join(" ");
}

/** Version of a module that `go.mod` requires. */
function required(goMod: string, module: string): string {
  const line = goMod.split("\n").map((text) => text.trim().split(/\s+/));
  const version = line.find(([name, value]) => name === module && value !== undefined)?.[1];
  if (version === undefined)
    throw new Error(`tools/helm/go.mod: module ${module} is not required: add its version`);
  return version;
}

function isHelm3(file: string): boolean {
  const { stdout } = spawnSync(file, ["version", "--short"], { encoding: "utf8" });
  return stdout?.startsWith(MAJOR) ?? false;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a command in the module's folder; one that cannot be started counts as exit code 127. */
function run(command: string, args: string[], env: Environment): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: MODULE_DIR,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
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
