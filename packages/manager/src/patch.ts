/** `quartet patch`: the template that a DaemonSet makes for a node, without a cluster. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ConfigurationError, messageOf } from "@quartet/core";
import { type DaemonSet, type Preview, previewNode } from "@quartet/ds-patches";
import { parseAllDocuments, stringify } from "yaml";

const USAGE = "quartet patch --daemonset FILE [--node-labels key=value,…]";

/** YAML of the effective template, with comments that say which patch set what. */
export async function patchText(args: readonly string[]): Promise<string> {
  const { daemonset, labels } = callOf(args);
  const text = await readFile(daemonset, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`--daemonset: cannot read ${daemonset}: ${messageOf(error)}`);
  });
  try {
    return textOf(previewNode(daemonSetOf(text), labels));
  } catch (error) {
    throw new ConfigurationError(`${daemonset}: ${messageOf(error)}`);
  }
}

function callOf(args: readonly string[]): { daemonset: string; labels: Record<string, string> } {
  try {
    const options = {
      daemonset: { type: "string" },
      "node-labels": { type: "string", multiple: true },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    if (values.daemonset === undefined) throw new Error("--daemonset is needed");
    const pairs = (values["node-labels"] ?? [])
      .flatMap((text) => text.split(","))
      .filter((text) => text !== "");
    const labels = pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new Error(`--node-labels: ${JSON.stringify(pair)} is no key=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
    return { daemonset: values.daemonset, labels: Object.fromEntries(labels) };
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nusage: ${USAGE}`);
  }
}

/** The first DaemonSet of the file. */
function daemonSetOf(text: string): DaemonSet {
  const objects = parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`no YAML: ${error.message}`);
    return document.toJS() as DaemonSet;
  });
  const found = objects.find((object) => object?.kind === "DaemonSet") ?? objects[0];
  if (found === undefined) throw new Error("is empty; give a file with one DaemonSet");
  return found;
}

function textOf({ template, applied, skipped, warnings }: Preview): string {
  const lines = applied.flatMap(({ index, priority, changes }) => [
    `patches[${index}] (priority ${priority}) ${changes.length === 0 ? "changes nothing" : "sets"}`,
    ...changes.map(
      ({ path, before, after }) =>
        `  ${path}: ${before === undefined ? "" : `${JSON.stringify(before)} -> `}${after === undefined ? "removed" : JSON.stringify(after)}`,
    ),
  ]);
  if (skipped.length > 0)
    lines.push(`not selected: ${skipped.map((index) => `patches[${index}]`).join(", ")}`);
  lines.push(...warnings.map((warning) => `warning: ${warning}`));
  return `${lines.map((line) => `# ${line}\n`).join("")}${stringify(template)}`;
}
