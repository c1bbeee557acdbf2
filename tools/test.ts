/**
 * `npm test [-- PATH…] [-- -t NAME]`: unit tests, corpora, scenarios on the double and on the real control plane.
 *
 * Without arguments it is a full run: it writes the report that `npm run rules` reads. The real control plane is
 * built first where it is missing; without binaries and without a Go toolchain the summary says so, and
 * `QUARTET_E2E_REAL=1` makes that an error.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ensureAssets } from "@quartet/testing";
import { REPORT_FILE, repository } from "./paths.ts";
import type { TestRecord } from "./rules/coverage.ts";

const args = process.argv.slice(2);
const full = args.length === 0;
const real = await realControlPlane();

const command = [
  `${repository}/node_modules/vitest/vitest.mjs`,
  "run",
  "--project",
  "unit",
  "--project",
  "double",
];
if (real.available) command.push("--project", "real");
if (full) rmSync(REPORT_FILE, { force: true });
const { status } = spawnSync(process.execPath, [...command, ...args], {
  cwd: repository,
  stdio: "inherit",
  env: {
    ...process.env,
    QUARTET_FULL_RUN: full ? "1" : "",
    NODE_OPTIONS: "--conditions=quartet-source --disable-warning=ExperimentalWarning",
  },
});

if (full) summarize();
console.log(`real apiserver: ${real.message}`);
const realMissing = !real.available && process.env.QUARTET_E2E_REAL === "1";
if (realMissing) console.error("QUARTET_E2E_REAL=1 asks for the real control plane, and it is not available");
process.exit(status !== 0 || realMissing ? 1 : 0);

/** Finds or builds the control plane's programs. */
async function realControlPlane(): Promise<{ available: boolean; message: string }> {
  try {
    const assets = await ensureAssets({ onProgress: (line) => console.error(line) });
    return { available: true, message: assets.version };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return { available: false, message: "NOT RUN (no binary)" };
  }
}

/** Prints scenarios with their times and the totals of the run. */
function summarize(): void {
  if (!existsSync(REPORT_FILE)) return;
  const { tests } = JSON.parse(readFileSync(REPORT_FILE, "utf8")) as { tests: TestRecord[] };
  const scenarios = tests.filter((test) => test.file.endsWith(".scenario.ts"));
  console.log("\nscenarios (seconds)          double    real");
  for (const title of new Set(scenarios.map((test) => test.title))) {
    const cell = (project: string): string => {
      const test = scenarios.find((candidate) => candidate.title === title && candidate.project === project);
      const text =
        test === undefined
          ? "-"
          : test.state === "passed"
            ? (test.milliseconds / 1000).toFixed(1)
            : test.state;
      return text.padStart(8);
    };
    console.log(`${cell("double")}${cell("real")}  ${title}`);
  }
  const count = (project: string, state: TestRecord["state"]): number =>
    tests.filter((test) => test.project === project && test.state === state).length;
  console.log("");
  for (const project of ["unit", "double", "real"]) {
    console.log(`${project}: ${count(project, "passed")} passed, ${count(project, "failed")} failed`);
  }
  const total = (state: TestRecord["state"]): number => tests.filter((test) => test.state === state).length;
  const skipped = total("skipped") + total("pending");
  console.log(
    `${total("passed")} passed, ${total("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  );
}
