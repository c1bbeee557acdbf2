/** Runs a program's bundle under the pinned Node, built first where it is stale. */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { repository } from "./paths.ts";

/** Runs the bundle of a package, e.g. `manager`, with the arguments of this process. */
export async function runProgram(name: string, file: string): Promise<void> {
  const bundle = `${repository}/packages/${name}/dist/${file}`;
  if (isStale(bundle)) {
    const flags = ["--conditions=quartet-source", "--disable-warning=ExperimentalWarning"];
    const { status } = spawnSync(process.execPath, [...flags, `${repository}/packages/${name}/build.ts`], {
      cwd: repository,
      stdio: ["ignore", 2, 2],
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  process.argv = [process.execPath, bundle, ...process.argv.slice(2)];
  await import(bundle);
}

/** True when the bundle is missing or a file that goes into it is newer. */
function isStale(bundle: string): boolean {
  const built = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return true;
  const sources = readdirSync(`${repository}/packages`).flatMap((name) =>
    timesIn(`${repository}/packages/${name}/src`),
  );
  return [...sources, ...timesIn(`${repository}/crds`)].some((time) => time > built);
}

function timesIn(folder: string): number[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs);
}
