/** What a test run says on a machine without the programs of a control plane and without a Go toolchain. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const TOOLS = resolve(import.meta.dirname, "..");
/** A test file that is quick; the run is about its summary. */
const ANY_TEST = "packages/testing/src/control-plane/components.test.ts";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "quartet-empty-cache-"));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

function testRun(env: Record<string, string>): { status: number | null; stdout: string; stderr: string } {
  const arguments_ = ["--conditions=quartet-source", join(TOOLS, "test.ts"), ANY_TEST];
  return spawnSync(process.execPath, arguments_, {
    encoding: "utf8",
    // Nothing of the surrounding test run, no Go in PATH, and an empty cache.
    env: { PATH: cache, HOME: cache, XDG_CACHE_HOME: cache, ...env },
  });
}

it("CORE-441 says that the real API server was not run, and is an error with QUARTET_E2E_REAL=1 only", () => {
  const tolerated = testRun({});
  expect(tolerated.stdout).toContain("real apiserver: NOT RUN (no binary)");
  expect(tolerated.stdout).toContain("ZooKeeper server: NOT RUN (no program: Debian's packages");
  expect(tolerated.stdout).toMatch(/Tests.* passed/);
  expect(tolerated.stderr).toContain("kube-apiserver");
  expect(tolerated.status).toBe(0);

  const demanded = testRun({ QUARTET_E2E_REAL: "1" });
  expect(demanded.stdout).toContain("real apiserver: NOT RUN (no binary)");
  expect(demanded.status).toBe(1);
});
