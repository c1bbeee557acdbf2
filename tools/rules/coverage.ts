/** Which rules the last full test run proved, and where. */
import { idsIn, type Rule } from "./catalog.ts";

/** One test of the last full run, as the reporter wrote it. */
export interface TestRecord {
  /** Vitest project: `unit`, `double` or `real`. */
  project: string;
  file: string;
  /** Titles of its groups and its own, joined by ` > `. */
  title: string;
  state: "passed" | "failed" | "skipped" | "pending";
  milliseconds: number;
  /** What went wrong, of a failed test. */
  error?: string;
}

/** Coverage of one rule book. IDs are in the order of the text. */
export interface SpecCoverage {
  spec: string;
  rules: number;
  /** Proved by a test that passed on the real control plane or a real server. */
  real: string[];
  /** Proved on the double or by a unit test alone. */
  doubleOrUnit: string[];
  unproved: string[];
}

/** A rule counts as proved by a test that passed, unless a failed test carries it as well. */
export function coverage(rules: readonly Rule[], tests: readonly TestRecord[]): SpecCoverage[] {
  const specs = [...new Set(rules.map((rule) => rule.spec))];
  const passed = new Map<string, Set<string>>();
  const failed = new Set<string>();
  for (const test of tests) {
    for (const id of idsIn(test.title, specs)) {
      if (test.state === "failed") failed.add(id);
      if (test.state === "passed") passed.set(id, (passed.get(id) ?? new Set()).add(test.project));
    }
  }
  const proof = (id: string): "real" | "double" | "none" => {
    const projects = passed.get(id);
    if (projects === undefined || failed.has(id)) return "none";
    return projects.has("real") ? "real" : "double";
  };
  return specs.map((spec) => {
    const ids = rules.filter((rule) => rule.spec === spec).map((rule) => rule.id);
    return {
      spec,
      rules: ids.length,
      real: ids.filter((id) => proof(id) === "real"),
      doubleOrUnit: ids.filter((id) => proof(id) === "double"),
      unproved: ids.filter((id) => proof(id) === "none"),
    };
  });
}

/** IDs in test titles that no rule book knows: a typing error, or a rule that was removed. */
export function unknownIds(rules: readonly Rule[], tests: readonly TestRecord[]): string[] {
  const known = new Set(rules.map((rule) => rule.id));
  const families = new Set(rules.map((rule) => rule.id.replace(/-?\s?A?\d+$/, "")));
  const specs = [...new Set(rules.map((rule) => rule.spec))];
  const unknown = tests.flatMap((test) => idsIn(test.title, specs)).filter((id) => !known.has(id));
  return [...new Set(unknown)].filter((id) => families.has(id.replace(/-?\s?A?\d+$/, ""))).sort();
}
