/** Vitest reporter that writes the record of a full run for `npm run rules`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { REPORT_FILE, REPORTS, repository } from "../paths.ts";
import type { TestRecord } from "./coverage.ts";

/** Writes every test's project, title, state and time to `reports/tests.json`. */
export function rulesReporter(): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[]) {
      const tests: TestRecord[] = [];
      for (const module of modules) {
        for (const test of module.children.allTests()) {
          tests.push({
            project: module.project.name,
            file: relative(repository, module.moduleId),
            title: test.fullName,
            state: test.result().state,
            milliseconds: Math.round(test.diagnostic()?.duration ?? 0),
          });
        }
      }
      mkdirSync(REPORTS, { recursive: true });
      writeFileSync(REPORT_FILE, JSON.stringify({ tests }, null, 1));
    },
  };
}
