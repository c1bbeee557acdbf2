/** Vitest reporter that writes the record of a full run for `npm run rules`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule } from "vitest/node";
import { REPORT_FILE, REPORTS, repository } from "../paths.ts";
import type { FileRecord } from "../test/summary.ts";
import type { TestRecord } from "./coverage.ts";

/** Content of the report. */
export interface Report {
  tests: TestRecord[];
  files: FileRecord[];
}

/** Writes every test's project, title, state and time to `reports/tests.json`; errors outside of tests as failures. */
export function rulesReporter(): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]) {
      const tests = modules.flatMap(recordsOf);
      for (const error of unhandled) {
        tests.push({ project: "", file: "", title: "unhandled error", ...failure([error]), milliseconds: 0 });
      }
      const files = modules.map((module) => ({
        project: module.project.name,
        file: relative(repository, module.moduleId),
        milliseconds: Math.round(module.diagnostic().duration),
      }));
      mkdirSync(REPORTS, { recursive: true });
      writeFileSync(REPORT_FILE, JSON.stringify({ tests, files } satisfies Report, null, 1));
    },
  };
}

function recordsOf(module: TestModule): TestRecord[] {
  const project = module.project.name;
  const file = relative(repository, module.moduleId);
  const records = [...module.children.allTests()].map((test): TestRecord => {
    const { state, errors = [] } = test.result();
    const milliseconds = Math.round(test.diagnostic()?.duration ?? 0);
    const outcome = state === "failed" ? failure(errors) : { state };
    return { project, file, title: test.fullName, ...outcome, milliseconds };
  });
  const suites = [module, ...module.children.allSuites()];
  for (const suite of suites) {
    const errors = suite.errors();
    if (errors.length === 0) continue;
    const title = suite.type === "suite" ? `${suite.fullName} (outside its tests)` : "(outside its tests)";
    records.push({ project, file, title, ...failure(errors), milliseconds: 0 });
  }
  return records;
}

/** Length at which an error's text is cut, in characters: enough for a diff of a small object. */
const MAX_ERROR = 1_500;

/** Message, diff and place of the first error. */
function failure([error]: readonly SerializedError[]): { state: "failed"; error: string } {
  const place = error?.stacks?.[0];
  const parts = [
    error?.message,
    error?.diff,
    place && `at ${relative(repository, place.file)}:${place.line}`,
  ];
  const text = stripVTControlCharacters(parts.filter(Boolean).join("\n"));
  return { state: "failed", error: text.slice(0, MAX_ERROR) };
}
