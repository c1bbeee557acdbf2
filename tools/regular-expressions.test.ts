import { describe, expect, it } from "vitest";
import { repository } from "./paths.ts";
import { type Expression, expressionsIn, expressionsOf, faultsOf } from "./regular-expressions.ts";

/** Expressions that are fine for a reason which their form does not show. */
const ALLOWED: Readonly<Record<string, string>> = {
  "packages/core/src/client/warnings.ts":
    "reads a header of the API server; Node takes 16 KiB of headers at most",
  "packages/manager/src/config/environment.ts":
    "reads names of environment variables, which the cluster's Services name",
  "packages/core/src/helpers/names.ts": "built of constants, and used on flags alone",
  "packages/confd-agent/src/functions/layout.ts": "reads the digits of a fraction of a second",
  "packages/ds-patches/src/admission/dry-run.ts":
    "reads the first 8 192 characters of an answer of the API server",
  "packages/go-template/src/float.ts": "reads the digits of one number, at most some hundred",
  "packages/nacos-config/src/database/schema.ts": "reads the SQL files that come with the package",
};

/** What the tests alone import reads what the tests say. */
const isProduct = (file: string): boolean =>
  !/\.(test|testkit|scenario|gen)\.ts$/.test(file) && !file.startsWith("packages/testing/");

describe("regular expressions of the packages", () => {
  const all = expressionsIn(repository, "packages/*/src/**/*.ts", isProduct);
  const faulty = all.filter(({ faults }) => faults.length > 0);
  const describeFault = ({ file, text, faults }: Expression): string =>
    `${file} ${text}: ${faults.join(", ")}`;

  it("CORE-193 take linear time, or stand in the list of exceptions", () => {
    expect(all.length).toBeGreaterThan(100);
    expect(faulty.filter(({ file }) => !(file in ALLOWED)).map(describeFault)).toEqual([]);
  });

  it("CORE-193 have no exception that nobody needs", () => {
    const needed = new Set(faulty.map(({ file }) => file));
    expect(Object.keys(ALLOWED).filter((file) => !needed.has(file))).toEqual([]);
  });
});

describe("faultsOf", () => {
  it.each([
    ["/+$", "walked again from each place"],
    ["\\s+$", "walked again from each place"],
    ["a\\w*b", "walked again from each place"],
    ["-[^;]*;", "walked again from each place"],
    ["\\beyJ[\\w-]+\\.", "walked again from each place"],
    [",(?![^(]*\\))", "walked again from each place"],
    ["^(a+)+$", "exponential"],
    ["^(\\w|\\d)*$", "begin alike"],
    ["^a*a*$", "polynomial"],
    ["^\\s*(.*)$", "polynomial"],
  ])("finds that /%s/ is not linear", (source, fault) => {
    expect(faultsOf(source, "").join("; ")).toContain(fault);
  });

  it.each(["^/+$", "a+", "=\\s+x", "\\b\\w+\\s", "(?<![a-z-])ey[a-z-]+\\.", "://[^/:]*:[^/]+@", "^[^=]+=.*"])(
    "finds that /%s/ is linear",
    (source) => expect(faultsOf(source, "")).toEqual([]),
  );
});

describe("expressionsOf", () => {
  it("finds literals wherever they stand, and what is built at run time", () => {
    const source =
      'const a = /x/u; f((b) => b.replace(/y+$/g, "")); new RegExp(a); "/no/"; 1 / 2 / 3; // /no/';
    expect(expressionsOf("a.ts", source).map(({ text }) => text)).toEqual([
      "/x/u",
      "/y+$/g",
      "new RegExp(a)",
    ]);
  });
});
