/** The table of results. */
import { median } from "./statistics.ts";

/** A measured quantity; in all of them less is better. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
}

/** Values per subject, one per run: measure id → values. */
export type Results = ReadonlyMap<string, readonly number[]>;

/** Order of the rows. `{objects}` and `{pods}` are filled in by the caller's ids. */
export const MEASURES: readonly Measure[] = [
  { id: "B1", title: "create all, until all are Ready", unit: "s" },
  { id: "B2", title: "update all, until all are Ready", unit: "s" },
  { id: "B3 p50", title: "one change until its ConfigMap is seen", unit: "ms" },
  { id: "B3 p99", title: "one change until its ConfigMap is seen", unit: "ms" },
  { id: "B5", title: "start of the process until its first object is Ready", unit: "s" },
  { id: "B6", title: "SIGTERM to the leader until the next one has done a change", unit: "s" },
  { id: "B7 create", title: "API requests per created object", unit: "" },
  { id: "B7 update", title: "API requests per updated object", unit: "" },
  { id: "B8", title: "API server back until a change is done", unit: "s" },
  { id: "B9", title: "CPU seconds per 1 000 watch events", unit: "s" },
  { id: "B10", title: "start with all of them Ready until each was reconciled", unit: "s" },
];

/** Row for memory with so many pods cached. */
export function memoryMeasure(pods: number, projection: "full" | "metadata"): Measure {
  const title = `RSS with ${pods} pods cached, ${projection}`;
  return { id: `B4 ${pods} ${projection}`, title, unit: "MiB" };
}

/** Row for a start with so many pods to cache. */
export function coldStartMeasure(pods: number): Measure {
  return { id: `B5 ${pods}`, title: `start of the process until ${pods} pods are cached`, unit: "s" };
}

/** Markdown table: medians with their spread, and ours as a share of theirs. */
export function resultTable(
  measures: readonly Measure[],
  ours: Results,
  theirs: Results | undefined,
): string {
  const rows = measures.map(({ id, title, unit }) => {
    const [a, b] = [ours.get(id), theirs?.get(id)];
    const label = unit === "" ? title : `${title} (${unit})`;
    const other = theirs === undefined ? "NOT RUN (no Go)" : cell(b);
    return `| ${id.split(" ")[0]}${suffix(id)} | ${label} | ${cell(a)} | ${other} | ${ratio(a, b)} |`;
  });
  return [
    "| | Measure | quartet | controller-runtime | quartet/Go |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

function suffix(id: string): string {
  return /p\d+$/.exec(id)?.[0].replace(/^/, " ") ?? "";
}

function cell(values: readonly number[] | undefined): string {
  if (values === undefined || values.length === 0) return "–";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? figure(low) : `${figure(median(values))} (${figure(low)}–${figure(high)})`;
}

function ratio(a: readonly number[] | undefined, b: readonly number[] | undefined): string {
  if (!a?.length || !b?.length) return "–";
  return (median(a) / median(b)).toFixed(2);
}

/** Three digits that say something. */
function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
