/**
 * `npm test [-- PATH…] [-- -t NAME]`: unit tests, corpora, scenarios on the double and on the real control plane.
 *
 * Without arguments it is a full run: it writes the report that `npm run rules` reads. The programs of the real control
 * plane and Helm are built first where they are missing, never inside a test. What cannot be had, such as the server
 * programs of PostgreSQL, the summary names, and `QUARTET_E2E_REAL=1` makes that an error.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ensureAssets, findPostgres } from "@quartet/testing";
import { ensureHelm } from "./helm/helm.ts";
import { REPORT_FILE, repository } from "./paths.ts";
import type { TestRecord } from "./rules/coverage.ts";

const args = process.argv.slice(2);
const full = args.length === 0;
const progress = (line: string): void => console.error(line);
const real = await find("real apiserver", "no binary", async () => {
  return (await ensureAssets({ onProgress: progress })).version;
});
/** Programs that some tests need, with the files of those tests. */
const programs = [
  {
    tests: "**/*postgres*.{scenario,real.test}.ts",
    ...(await find("PostgreSQL server", "no server programs", () =>
      output(findPostgres().postgres, "--version"),
    )),
  },
  {
    tests: "e2e/chart/**",
    ...(await find("Helm", "no program", async () =>
      output(await ensureHelm(process.env, progress), "version", "--short"),
    )),
  },
];

const command = [
  `${repository}/node_modules/vitest/vitest.mjs`,
  "run",
  "--project",
  "unit",
  "--project",
  "double",
];
if (real.available) command.push("--project", "real");
for (const { available, tests } of programs) if (!available) command.push("--exclude", tests);
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
const found = [real, ...programs];
for (const { name, message } of found) console.log(`${name}: ${message}`);
const missing = process.env.QUARTET_E2E_REAL === "1" && found.some(({ available }) => !available);
if (missing) {
  console.error("QUARTET_E2E_REAL=1 asks for real programs, and they are not all available");
}
process.exit(status !== 0 || missing ? 1 : 0);

interface Availability {
  name: string;
  available: boolean;
  message: string;
}

/** Looks for a program; `version` rejects when it cannot be had. */
async function find(
  name: string,
  without: string,
  version: () => string | Promise<string>,
): Promise<Availability> {
  try {
    return { name, available: true, message: await version() };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return { name, available: false, message: `NOT RUN (${without})` };
  }
}

/** What a program prints. */
function output(file: string, ...flags: string[]): string {
  return execFileSync(file, flags, { encoding: "utf8" }).trim();
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
