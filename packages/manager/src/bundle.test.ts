import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../bundle.ts";

/** Outside of the repository, where no packages are found. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-bundle-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("bundle", () => {
  it("CORE-515 is one file within the budget that runs from an empty folder with Node alone", async () => {
    const outfile = join(folder, "manager.mjs");
    expect(await bundle({ outfile })).toBeLessThan(3 * 1024 * 1024);
    const empty = join(folder, "empty");
    mkdirSync(empty);
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, [outfile, ...args], { cwd: empty, encoding: "utf8", env: { PATH: "" } });
    expect(run("--version")).toMatch(/^quartet \d+\.\d+\.\d+ \(commit /);
    expect(run("--print-rbac")).toContain("kind: ClusterRole");
    expect(statSync(`${outfile}.map`).size).toBeGreaterThan(0);
    expect(readFileSync(outfile, "utf8").trimEnd().endsWith("//# sourceMappingURL=manager.mjs.map")).toBe(
      true,
    );
    const licences = readFileSync(join(folder, "manager.LICENSES.txt"), "utf8");
    for (const name of ["pino", "prom-client", "yaml", "@kubernetes/client-node"])
      expect(licences).toContain(`${name} `);
  });

  it("CORE-515 starts without Node's fetch and HTTP/2, which it does not use", async () => {
    const outfile = join(folder, "lean.mjs");
    await bundle({ outfile });
    const loaded = 'process.on("exit",()=>console.log(process.moduleLoadList.join("\\n")))';
    const flags = ["--import", `data:text/javascript,${loaded}`];
    const modules = execFileSync(process.execPath, [...flags, outfile, "--version"], { encoding: "utf8" });
    expect(modules).toContain("NativeModule https");
    expect(modules).not.toMatch(/undici|http2/);
  });

  it("CORE-515 holds no character that would make V8 keep the whole text with two bytes for each", async () => {
    const entry = join(folder, "wide.js");
    writeFileSync(entry, "console.log(/\u03bc/.exec(process.argv[2]));");
    await expect(bundle({ entry, outfile: join(folder, "wide.mjs") })).rejects.toThrow(
      "write it as an escape: console.log(/\u03bc",
    );
  });

  it("CORE-516 refuses client-node's generated API and packages that would be looked up at run time", async () => {
    const modules = resolve(import.meta.dirname, "../../core/node_modules");
    const refuse = async (text: string): Promise<string> => {
      const entry = join(folder, "entry.js");
      writeFileSync(entry, text);
      const error = await bundle({ entry, outfile: join(folder, "bad.mjs") }).catch(
        (caught: Error) => caught,
      );
      return error instanceof Error ? error.message : "accepted";
    };
    const index = join(modules, "@kubernetes/client-node/dist/index.js");
    expect(
      await refuse(`import { CoreV1Api } from ${JSON.stringify(index)}; console.log(CoreV1Api);`),
    ).toContain("readNamespacedPod");
    expect(await refuse('try { require("left-pad"); } catch {}')).toContain("would look for left-pad");
  });
});
