/** Helm, and the chart as it renders. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { ensureHelm } from "../../../tools/helm/helm.ts";

/** Folder of the chart. */
export const CHART: string = resolve(import.meta.dirname, "../../../charts/quartet");
/** Longest time for one call of Helm. */
const LIMIT_MS = 120_000;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** An object as the chart renders it. */
export interface Rendered {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; uid?: string; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: every kind of object has other fields
  [field: string]: any;
}

/** Runs a program to its end. */
export function execute(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((done, reject) => {
    const child = spawn(file, args, { env: { ...process.env, ...env }, timeout: LIMIT_MS });
    const outcome = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (outcome.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (outcome.stderr += text));
    child.on("error", reject);
    child.on("close", (code) => done({ code: code ?? 1, ...outcome }));
  });
}

/** Runs Helm. */
export async function helm(args: readonly string[], env?: Record<string, string>): Promise<Outcome> {
  return execute(await ensureHelm(), args, env);
}

/** Runs Helm and returns its stdout; rejects when it fails. */
export async function helmOk(args: readonly string[], env?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await helm(args, env);
  if (code !== 0) throw new Error(`helm ${args.join(" ")}: exit code ${code}\n${stderr}`);
  return stdout;
}

/** Objects of release `quartet` with these values (`--set-json`). */
export async function render(values: readonly string[] = [], namespace = "ops"): Promise<Rendered[]> {
  const sets = values.flatMap((value) => ["--set-json", value]);
  const text = await helmOk(["template", "quartet", CHART, "--namespace", namespace, ...sets]);
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** The only object of a kind; throws when there is none or there are several. */
export function only(objects: readonly Rendered[], kind: string): Rendered {
  const found = objects.filter((object) => object.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} objects of kind ${kind}, not one`);
  return found[0]!;
}
