import { defineConfig } from "vitest/config";
import { rulesReporter } from "./tools/rules/reporter.ts";
import { Sequencer } from "./tools/test/sequencer.ts";
import { notOnDouble, realTests, SCENARIOS_AT_ONCE, type Size } from "./tools/test/sizes.ts";

const conditions = ["quartet-source"];
/** Scenarios are written once and run against both API servers. */
const scenarios = ["e2e/**/*.scenario.ts", "packages/*/test/**/*.scenario.ts"];
/** By itself Vitest runs whatever it is asked for (tools/test.ts). */
const size = (process.env.QUARTET_TEST_SIZE || "long") as Size;
const real = realTests(size, [...scenarios, "packages/*/src/**/*.real.test.ts", "e2e/**/*.real.test.ts"]);
/** In tests every cached object is deep-frozen: a write to one is an error. */
const env = { QUARTET_CACHE_GUARD: "1" };

/**
 * Limits for what hangs, in milliseconds. They are far above what a test needs: a busy machine takes ten times as long.
 */
const UNIT_LIMIT = 120_000;
const SCENARIO_LIMIT = 300_000;
/** Files of one package that take turns on the real control plane wait for each other, in hooks and in tests. */
const TURN_LIMIT = 900_000;
/** Apart from the unit tests, on both API servers side by side. */
const SCENARIOS = { maxWorkers: SCENARIOS_AT_ONCE, sequence: { groupOrder: 1 } };

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    // A full run (tools/test.ts) leaves the record that `npm run rules` reads.
    reporters: process.env.QUARTET_FULL_RUN === "1" ? ["default", rulesReporter()] : ["default"],
    sequence: { sequencer: Sequencer },
    // Of the tests that a file runs side by side: they wait.
    maxConcurrency: 10,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "{bench,tools}/**/*.test.ts",
          ],
          exclude: ["**/*.real.test.ts", "**/node_modules/**"],
          env,
          testTimeout: UNIT_LIMIT,
          hookTimeout: UNIT_LIMIT,
        },
      },
      {
        extends: true,
        test: {
          name: "double",
          include: scenarios,
          exclude: [...notOnDouble(size), "**/node_modules/**"],
          env: { ...env, QUARTET_TARGET: "double" },
          testTimeout: SCENARIO_LIMIT,
          hookTimeout: UNIT_LIMIT,
          ...SCENARIOS,
        },
      },
      {
        extends: true,
        test: {
          name: "real",
          include: [...real.include],
          exclude: [...real.exclude, "**/node_modules/**"],
          env: { ...env, QUARTET_TARGET: "real" },
          globalSetup: ["e2e/real-control-plane.ts"],
          testTimeout: TURN_LIMIT,
          hookTimeout: TURN_LIMIT,
          ...SCENARIOS,
        },
      },
    ],
  },
});
