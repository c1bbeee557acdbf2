import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../bundle.ts";

/** Outside of the repository, where no packages are found. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "confd-bundle-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("CONFD-CLI-5 is one file that runs with Node alone, and loads no backend that it is not asked for", async () => {
  const outfile = join(folder, "quartet-confd.mjs");
  await bundle({ outfile });
  for (const name of ["conf.d", "templates"]) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, "conf.d/a.toml"),
    `[template]\nsrc = "a"\ndest = "${folder}/out"\nkeys = ["/name"]\n`,
  );
  writeFileSync(join(folder, "templates/a"), '{{getv "/name"}}');
  const run = (flags: readonly string[], ...args: readonly string[]): string =>
    execFileSync(process.execPath, [...flags, outfile, ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: "", NAME: "n" },
      stdio: ["ignore", "pipe", "ignore"],
    });
  expect(run([], "-version")).toMatch(/^confd \d+\.\d+\.\d+ \(quartet \w+, Node\.js v/);
  const loaded = 'process.on("exit",()=>console.log(process.moduleLoadList.join("\\n")))';
  const modules = run(["--import", `data:text/javascript,${loaded}`], "env", "-onetime", "-confdir", folder);
  expect(readFileSync(join(folder, "out"), "utf8")).toBe("n");
  expect(modules).toContain("NativeModule fs");
  expect(modules).not.toContain("NativeModule http2");
});
