/** The program with the configuration that the chart gives it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MODULES, runCli } from "@quartet/manager";
import { type Outcome, only, type Rendered } from "./chart.ts";

/** Runs the program with the rendered configuration file, and `kubeconfig` if given. */
export async function runWith(
  objects: readonly Rendered[],
  args: readonly string[],
  kubeconfig?: string,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "quartet-chart-"));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const outcome = { stdout: "", stderr: "" };
  try {
    const config = only(objects, "ConfigMap").data["config.yaml"] as string;
    const code = await runCli({
      args: [
        `--config=${file("config.yaml", config)}`,
        ...(kubeconfig === undefined ? [] : [`--kubeconfig=${file("kubeconfig", kubeconfig)}`]),
        ...args,
      ],
      env: {},
      modules: MODULES,
      stdout: { write: (text: string) => (outcome.stdout += text) },
      stderr: { write: (text: string) => (outcome.stderr += text) },
      onSignal: () => () => {},
      exit: () => {},
    });
    return { code, ...outcome };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
