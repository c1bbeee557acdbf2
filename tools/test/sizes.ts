/** Sizes of a test run: each holds all of the one before. */

export type Size = "first" | "all" | "long";

/** Scenario files that run side by side, on both API servers together: they wait more than they compute. */
export const SCENARIOS_AT_ONCE = 5;

/** Scenarios that show each part at work on the real control plane: the seeds' documents, and the first of each rule book. */
const FIRST_SCENARIOS: readonly string[] = [
  "**/seed.scenario.ts",
  "**/first.scenario.ts",
  "e2e/core/reconcile.scenario.ts",
  "e2e/guide/*.scenario.ts",
];
/** What takes minutes on the real control plane, and what takes them on the double too. */
const LONG_TESTS = "**/*.long.{scenario,real.test}.ts";
const LONGEST_TESTS = "**/*.longest.scenario.ts";
/** What takes minutes wherever it runs, and whose run on the real control plane is the one that counts. */
const REAL_TESTS = "**/*.real.scenario.ts";

/** Which of the files with tests for the real control plane a run of a size has. */
export function realTests(
  size: Size,
  all: readonly string[],
): { include: readonly string[]; exclude: readonly string[] } {
  return {
    include: size === "first" ? FIRST_SCENARIOS : all,
    exclude: size === "long" ? [] : [LONG_TESTS, LONGEST_TESTS],
  };
}

/** Scenarios that a run of a size does not play on the double. */
export function notOnDouble(size: Size): readonly string[] {
  const excluded: Record<Size, readonly string[]> = {
    first: [LONG_TESTS, LONGEST_TESTS, REAL_TESTS],
    all: [LONGEST_TESTS, REAL_TESTS],
    long: [],
  };
  return excluded[size];
}

/** Arguments of `npm test` for size and for Vitest; whoever names files or titles gets all that they hold. */
export function readArguments(args: readonly string[]): { size: Size; full: boolean; rest: string[] } {
  const rest = args.filter((arg) => arg !== "--all" && arg !== "--long");
  const full = rest.length === 0;
  const size = args.includes("--long") || !full ? "long" : args.includes("--all") ? "all" : "first";
  return { size, full, rest };
}
