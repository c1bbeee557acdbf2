/** `npm run -s quartet -- ARGS`: the manager's bundle under the pinned Node, built first where it is stale. */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { repository } from "./paths.ts";

const BUNDLE = `${repository}/packages/manager/dist/manager.mjs`;

if (stale()) {
  const { status } = spawnSync(
    process.execPath,
    [
      "--conditions=quartet-source",
      "--disable-warning=ExperimentalWarning",
      `${repository}/packages/manager/build.ts`,
    ],
    { cwd: repository, stdio: ["ignore", 2, 2] },
  );
  if (status !== 0) process.exit(status ?? 1);
}
process.argv = [process.execPath, BUNDLE, ...process.argv.slice(2)];
await import(BUNDLE);

/** True when the bundle is missing or a file that goes into it is newer. */
function stale(): boolean {
  const built = statSync(BUNDLE, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return true;
  const sources = readdirSync(`${repository}/packages`).flatMap((name) =>
    newest(`${repository}/packages/${name}/src`),
  );
  return [...sources, ...newest(`${repository}/crds`)].some((time) => time > built);
}

function newest(folder: string): number[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs);
}
