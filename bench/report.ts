/** Text of the results. */
import { execFileSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import type { DoubleSpeed } from "./double.ts";
import type { FleetCost } from "./fleet.ts";
import type { BenchOptions } from "./options.ts";
import { median } from "./statistics.ts";
import { type Measure, type Results, resultTable } from "./table.ts";

export interface Report {
  readonly options: BenchOptions;
  readonly measures: readonly Measure[];
  readonly ours: Results;
  readonly theirs: Results | undefined;
  /** Seconds that the writes of B1 took without a controller, one per run. */
  readonly rawWrites: readonly number[];
  readonly double: DoubleSpeed;
  readonly fleet: FleetCost;
  /** Version of the API server. */
  readonly server: string;
}

const GIB = 1024 ** 3;

/** Machine, versions, options and the table. */
export function resultText(report: Report): string {
  const { options, measures, ours, theirs, rawWrites, double, fleet, server } = report;
  const { objects, runs, samples, pin } = options;
  return `${machine(server)}
${runs} runs with the order rotated; each figure is the median, in parentheses the lowest and the highest.
${objects} Echos in B1, B2, B7, B9 and B10; ${samples} changes in B3. ${pin ? "Subjects on one core, the control plane on the other." : "No process was pinned to a core."}

${resultTable(measures, ours, theirs)}

The writes of B1 alone, by the load generator without a controller, took ${median(rawWrites).toFixed(2)} s.

A fleet of ${fleet.resources} resources with two references each, in ${fleet.namespaces} namespaces: ${fleet.watches} watches stay open;
${verbs(fleet.start)} from the start until rest, ${verbs(fleet.change)} by a change that two of them refer to.

The API server double, which most tests run on: ${Math.round(double.creates)} creates a second,
${Math.round(double.events)} events a second to each of ten watchers, start in ${double.startMs.toFixed(0)} ms.
`;
}

const verbs = (counts: FleetCost["start"]): string =>
  Object.entries(counts)
    .map(([verb, count]) => `${count} ${verb}`)
    .join(", ");

function machine(server: string): string {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / GIB)} GiB`;
  return `${cpus().length} cores (${first?.model.trim() ?? "unknown"}), ${memory}, Linux ${release()}. API server ${server}, Node ${process.version}, ${goVersion()}.`;
}

function goVersion(): string {
  try {
    return execFileSync("go", ["version"], { encoding: "utf8" }).split(" ")[2]?.replace("go", "Go ") ?? "Go";
  } catch {
    return "no Go";
  }
}

/** The part of docs/performance.md between these lines is written by the benchmark. */
const BEGIN = "<!-- results: written by `npm run bench -- --write` -->";
const END = "<!-- end of results -->";

/** The document with new results in place of the old ones; throws when it has no place for them. */
export function withResults(document: string, results: string): string {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md: needs the lines ${BEGIN} and ${END}`);
  return `${document.slice(0, begin)}${BEGIN}\n\n${results}\n${document.slice(end)}`;
}
