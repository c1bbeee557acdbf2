import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { processExists, withFileLock } from "./lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("lets one work at a time, and releases the lock after an error", async () => {
  const file = join(folder, "sub", "lock");
  let inside = 0;
  let most = 0;
  const waits: number[] = [];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await sleep(20);
    inside--;
    throw new Error("failed");
  };
  const results = await Promise.allSettled(
    [1, 2, 3].map(() => withFileLock(file, work, (pid) => waits.push(pid))),
  );
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(most).toBe(1);
  expect(waits).toEqual([process.pid, process.pid]);
  expect(existsSync(file)).toBe(false);
});

it("takes over the lock of a process that has died", async () => {
  const file = join(folder, "lock");
  const { pid } = spawnSync("true");
  writeFileSync(file, String(pid));
  expect(await withFileLock(file, async () => "done")).toBe("done");
});

it("tells living processes from dead ones", () => {
  expect(processExists(process.pid)).toBe(true);
  expect(processExists(spawnSync("true").pid)).toBe(false);
});
