import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { benchOptions, soakMinutes } from "./options.ts";

it("reads numbers, and takes no other text for one", () => {
  expect(benchOptions(["--objects=10", "--pods="])).toMatchObject({ objects: 10, runs: 3, pods: [] });
  expect(() => benchOptions(["--runs=0"])).toThrow('--runs: "0" is not a whole number of at least 1');
  expect(soakMinutes([])).toBe(5);
  expect(soakMinutes(["60"])).toBe(60);
  expect(() => soakMinutes(["1", "2"])).toThrow("1 2");
  expect(() => soakMinutes(["5", "--objects=3"])).toThrow("--objects");
});

it.each([
  ["main.ts", "--object=10", "Unknown option '--object'"],
  ["soak.ts", "abc", '"abc" is not a whole number'],
  ["../tools/rules/main.ts", "--jsno", "Unknown option '--jsno'"],
])(
  "%s %s ends with code 2, the reason and the usage before anything starts",
  (file, argument, reason) => {
    const script = new URL(file, import.meta.url).pathname;
    const flags = ["--conditions=quartet-source", "--disable-warning=ExperimentalWarning"];
    const { status, stderr } = spawnSync(process.execPath, [...flags, script, argument], {
      encoding: "utf8",
    });
    expect(stderr).toContain(reason);
    expect(stderr).toContain("usage: npm run");
    expect(stderr).not.toContain("    at ");
    expect(status).toBe(2);
  },
  60_000,
);
