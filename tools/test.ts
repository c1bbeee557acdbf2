/**
 * `npm test [-- PATH…] [-- -t NAME]`: unit tests, corpora, scenarios on the double and on the real control plane.
 *
 * Without arguments it is a full run: it writes the report that `npm run rules` reads. The real control plane is
 * built first where it is missing; without binaries and without a Go toolchain the summary says so, and
 * `QUARTET_E2E_REAL=1` makes that an error. So it does with the tests that start a PostgreSQL server.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ensureAssets, findPostgres } from "@quartet/testing";
import { REPORT_FILE, repository } from "./paths.ts";
import type { TestRecord } from "./rules/coverage.ts";

/** Test files that start a PostgreSQL server carry it in their names. */
const POSTGRES_TESTS = "**/*postgres*.{scenario,real.test}.ts";

const args = process.argv.slice(2);
const full = args.length === 0;
const real = await realControlPlane();
const postgres = postgresServer();

const command = [
  `${repository}/node_modules/vitest/vitest.mjs`,
  "run",
  "--project",
  "unit",
  "--project",
  "double",
];
if (real.available) command.push("--project", "real");
if (!postgres.available) command.push("--exclude", POSTGRES_TESTS);
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
console.log(`PostgreSQL server: ${postgres.message}`);
const missing = process.env.QUARTET_E2E_REAL === "1" && !(real.available && postgres.available);
if (missing) {
  console.error("QUARTET_E2E_REAL=1 asks for real servers, and they are not all available");
}
process.exit(status !== 0 || missing ? 1 : 0);

interface Availability {
  available: boolean;
  message: string;
}

/** Finds the programs of a PostgreSQL server. */
function postgresServer(): Availability {
  try {
    const version = execFileSync(findPostgres().postgres, ["--version"], { encoding: "utf8" });
    return { available: true, message: version.trim() };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return { available: false, message: "NOT RUN (no server programs)" };
  }
}

/** Finds or builds the control plane's programs. */
async function realControlPlane(): Promise<Availability> {
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
  const failed = tests.filter(({ state }) => state === "failed");
  if (failed.length > 0) console.log("\nfailed");
  for (const { project, file, title, error } of failed) {
    console.log(`${project} ${file} > ${title}\n    ${error?.replaceAll("\n", "\n    ")}`);
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
