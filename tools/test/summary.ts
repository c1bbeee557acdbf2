/** What a full run prints at its end. */
import type { TestRecord } from "../rules/coverage.ts";
import { SCENARIOS_AT_ONCE } from "./sizes.ts";

/** What one part may take of a run on the real control plane, in seconds (CORE-453). */
const REAL_BUDGET_S = 210;
const PROJECTS = ["unit", "double", "real"] as const;

/** Time of a test file with its set-up. */
export interface FileRecord {
  project: string;
  file: string;
  milliseconds: number;
}

/** Scenarios with their times, times of each part, failed tests, and the totals of the run. */
export function summary(tests: readonly TestRecord[], files: readonly FileRecord[]): string {
  return [scenarioTimes(tests), partTimes(files), failures(tests), totals(tests)]
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n");
}

function scenarioTimes(tests: readonly TestRecord[]): string[] {
  const scenarios = tests.filter((test) => test.file.endsWith(".scenario.ts"));
  const rows = [...Map.groupBy(scenarios, ({ title }) => title)].map(([title, records]) => {
    const cell = (project: string): string => {
      const test = records.find((record) => record.project === project);
      if (test === undefined) return "-";
      return test.state === "passed" ? (test.milliseconds / 1000).toFixed(1) : test.state;
    };
    return `${cell("double").padStart(8)}${cell("real").padStart(8)}  ${title}`;
  });
  return ["scenarios (seconds)", "  double    real", ...rows];
}

/** `nacos-config` of `packages/nacos-config/test/a.scenario.ts`; `e2e/core` of `e2e/core/a.scenario.ts`. */
function partOf(file: string): string {
  const [top = "", folder = ""] = file.split("/");
  if (top === "packages") return folder;
  return top === "e2e" ? `${top}/${folder}` : top;
}

function partTimes(files: readonly FileRecord[]): string[] {
  const secondsOf = (records: readonly FileRecord[], project: string): number =>
    records
      .filter((record) => record.project === project)
      .reduce((sum, record) => sum + record.milliseconds / 1000, 0);
  const rows = [...Map.groupBy(files, ({ file }) => partOf(file))].sort().map(([part, records]) => {
    const cells = PROJECTS.map((project) => secondsOf(records, project).toFixed(0).padStart(8)).join("");
    const share = secondsOf(records, "real") / SCENARIOS_AT_ONCE;
    const tooMuch = `takes ${share.toFixed(0)} s of the run on the real control plane, more than ${REAL_BUDGET_S}`;
    return `${cells}  ${part}${share > REAL_BUDGET_S ? `: ${tooMuch}` : ""}`;
  });
  return [
    `parts (seconds of their test files added up, of which scenarios run ${SCENARIOS_AT_ONCE} at once)`,
    PROJECTS.map((name) => name.padStart(8)).join(""),
    ...rows,
  ];
}

function failures(tests: readonly TestRecord[]): string[] {
  const failed = tests.filter(({ state }) => state === "failed");
  if (failed.length === 0) return [];
  const rows = failed.map(
    ({ project, file, title, error }) =>
      `${project} ${file} > ${title}\n    ${error?.replaceAll("\n", "\n    ")}`,
  );
  return ["failed", ...rows];
}

function totals(tests: readonly TestRecord[]): string[] {
  const count = (...states: TestRecord["state"][]): ((project?: string) => number) => {
    return (project) =>
      tests.filter((test) => states.includes(test.state) && (project ?? test.project) === test.project)
        .length;
  };
  const [passed, failed, skipped] = [count("passed"), count("failed"), count("skipped", "pending")];
  const rest = skipped() > 0 ? `, ${skipped()} skipped` : "";
  return [
    ...PROJECTS.map((project) => `${project}: ${passed(project)} passed, ${failed(project)} failed`),
    `${passed()} passed, ${failed()} failed${rest}`,
  ];
}
