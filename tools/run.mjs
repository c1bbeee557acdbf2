#!/usr/bin/env node
// Entry of every root script: installs what is missing, then runs the task under the pinned Node.
// Plain JavaScript without dependencies, so that it runs on whatever Node the machine has, before any install.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const bin = (name) => join(root, "node_modules", ".bin", name);
const node = join(root, "node_modules", "node", "bin", "node");
const script = (file) => [
  node,
  "--conditions=quartet-source",
  "--disable-warning=ExperimentalWarning",
  join(root, file),
];

/** Task name → command lines, run one after the other until one fails; arguments go to the last. */
const tasks = {
  bench: () => [script("bench/main.ts")],
  "bench:confd": () => [script("bench/confd.ts")],
  "bench:daemonset": () => [script("bench/daemonset.ts")],
  "bench:nacos": () => [script("bench/nacos.ts")],
  "bench:tars": () => [script("bench/tars.ts")],
  "bench:tunnel": () => [script("bench/tunnel.ts")],
  // turbo looks for the package manager on the PATH: npx puts it there.
  build: () => [
    ["npx", "--yes", `--package=${packageManager}`, "--call", "turbo run build --output-logs=errors-only"],
  ],
  "cloudflare-double": () => [script("tools/cloudflare-double.ts")],
  "control-plane": () => [script("tools/control-plane/main.ts")],
  corpus: () => [script("tools/corpus.ts")],
  demo: () => [script("tools/demo.ts")],
  generate: () => [script("tools/generate.ts")],
  knip: () => [[bin("knip")]],
  lint: () => [[bin("biome"), "check", "--error-on-warnings", "."]],
  quartet: () => [script("tools/quartet.ts")],
  "quartet-confd": () => [script("tools/quartet-confd.ts")],
  soak: () => [script("bench/soak.ts")],
  rules: () => [script("tools/rules/main.ts")],
  // Vitest loads its global set-up from the compiled packages, whatever export conditions are set.
  test: () => [[bin("tsc"), "-b"], script("tools/test.ts")],
  typecheck: () => [
    [bin("tsc"), "-b"],
    [bin("tsc"), "-p", "tsconfig.tests.json"],
  ],
};

/** Tasks whose arguments may be file names: they run where the user called them. */
const takesPaths = new Set(["corpus", "quartet", "quartet-confd"]);

const [task, ...args] = process.argv.slice(2);
if (task === undefined || !(task in tasks)) {
  console.error(`unknown task ${task ?? ""}: known are ${Object.keys(tasks).join(", ")}`);
  process.exit(2);
}
await install();
const commands = tasks[task]();
for (const [index, command] of commands.entries()) {
  const last = index === commands.length - 1;
  const code = await run(last ? [...command, ...args] : command, "inherit");
  if (code !== 0) process.exit(code);
}

/** Installs the workspace when the lockfile is newer than what is installed. Output goes to stderr. */
async function install() {
  const lockfile = readFileSync(join(root, "pnpm-lock.yaml"));
  const want = createHash("sha256").update(lockfile).digest("hex");
  const marker = join(root, "node_modules", ".quartet-installed");
  if (existsSync(marker) && existsSync(node) && readFileSync(marker, "utf8") === want) return;
  console.error(`installing the workspace with ${packageManager}`);
  const code = await run(["npx", "--yes", packageManager, "install", "--frozen-lockfile"], ["ignore", 2, 2]);
  if (code !== 0) {
    console.error("install failed: see the messages above");
    process.exit(code);
  }
  writeFileSync(marker, want);
}

/**
 * Runs a command and returns its exit code, 128 + n after signal n. Signals are handed on: the child decides how
 * to stop, and this process waits for it. On Ctrl-C the terminal has told the child already.
 */
function run(command, stdio) {
  return new Promise((done) => {
    const child = spawn(command[0], command.slice(1), {
      cwd: takesPaths.has(task) ? (process.env.INIT_CWD ?? root) : root,
      stdio,
      env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, TURBO_TELEMETRY_DISABLED: "1" },
    });
    const onInterrupt = () => {};
    const onTerminate = () => child.kill("SIGTERM");
    process.on("SIGINT", onInterrupt);
    process.on("SIGTERM", onTerminate);
    const end = (code) => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      done(code);
    };
    child.on("error", (error) => {
      console.error(`${command[0]}: ${error.message}`);
      end(1);
    });
    child.on("exit", (code, signal) => end(code ?? 128 + constants.signals[signal]));
  });
}
