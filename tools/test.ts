/**
 * `npm test`: unit tests, corpora, scenarios on the double, and the first scenarios on the real control plane.
 * `npm test -- --all`: all but what takes minutes. `npm test -- --long`: everything.
 * `npm test -- PATH… [-t NAME]`: some tests only, in all tiers that they have.
 *
 * The first three write the report that `npm run rules` reads. The programs of the real control
 * plane and Helm are built first where they are missing, never inside a test. What cannot be had, such as the server
 * programs of PostgreSQL, the summary names, and `QUARTET_E2E_REAL=1` makes that an error.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureAssets, findPostgres } from "@quartet/testing";
import { ensureHelm } from "./helm/helm.ts";
import { REPORT_FILE, repository } from "./paths.ts";
import type { Report } from "./rules/reporter.ts";
import { readArguments } from "./test/sizes.ts";
import { summary } from "./test/summary.ts";

const { size, full, rest } = readArguments(process.argv.slice(2));
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
    tests: "**/*redis*.real.test.ts",
    ...(await find("Redis server", "no program: Debian's package redis-server", () =>
      output("redis-server", "--version"),
    )),
  },
  {
    tests: "**/*zookeeper*.real.test.ts",
    ...(await find(
      "ZooKeeper server",
      "no program: Debian's packages default-jre-headless, libzookeeper-java",
      () =>
        output(
          "java",
          "-cp",
          "/usr/share/java/zookeeper.jar",
          "org.apache.zookeeper.version.VersionInfoMain",
        ),
    )),
  },
  {
    tests: "**/*nginx*.real.test.ts",
    ...(await find("nginx", "no program: Debian's package nginx-light", () =>
      output("/bin/sh", "-c", "PATH=$PATH:/usr/sbin nginx -v 2>&1"),
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
const { status } = spawnSync(process.execPath, [...command, ...rest], {
  cwd: repository,
  stdio: "inherit",
  env: {
    ...process.env,
    QUARTET_FULL_RUN: full ? "1" : "",
    QUARTET_TEST_SIZE: size,
    // Programs that tests start from their sources take half the time to begin.
    NODE_COMPILE_CACHE: join(repository, "node_modules", ".cache", "node-compile"),
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

/** Prints the summary of the report that the run has written. */
function summarize(): void {
  if (!existsSync(REPORT_FILE)) return;
  const { tests, files } = JSON.parse(readFileSync(REPORT_FILE, "utf8")) as Report;
  console.log(`\n${summary(tests, files)}`);
}
