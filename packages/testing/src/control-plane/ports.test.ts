import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { portAllocator } from "./ports.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-ports-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RANGE = [31_900, 31_909] as const;
const range = RANGE;

/** Allocates in another process and prints the ports; the process lives until its stdin closes. */
function otherProcess(count: number): { ports: Promise<number[]>; end(): void } {
  const module = JSON.stringify(join(import.meta.dirname, "ports.ts"));
  const code = `
    const { portAllocator } = await import(${module});
    const allocator = portAllocator({ folder: ${JSON.stringify(folder)}, range: ${JSON.stringify(range)} });
    const ports = [];
    for (let i = 0; i < ${count}; i++) ports.push(await allocator.allocate());
    console.log(JSON.stringify(ports));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const ports = new Promise<number[]>((resolve) => {
    child.stdout.once("data", (data: Buffer) => resolve(JSON.parse(data.toString()) as number[]));
  });
  return { ports, end: () => child.stdin.end() };
}

it("CORE-442 gives no port twice, neither within a process nor between processes", async () => {
  const others = [otherProcess(4), otherProcess(3)];
  const own = portAllocator({ folder, range });
  const second = portAllocator({ folder, range });
  const mine = [await own.allocate(), await second.allocate(), await own.allocate()];
  const all = [...mine, ...(await Promise.all(others.map(({ ports }) => ports))).flat()];
  expect(new Set(all).size).toBe(10);
  await expect(own.allocate()).rejects.toThrow("no free port between 31900 and 31909");
  for (const other of others) other.end();
});

it("CORE-442 does not count claims of processes that have died, and takes released ports again", async () => {
  const { pid } = spawnSync("true");
  for (let port = RANGE[0]; port <= RANGE[1]; port++) writeFileSync(join(folder, `${port}.${pid}`), "");
  const allocator = portAllocator({ folder, range });
  const ports = [];
  for (let i = 0; i < 10; i++) ports.push(await allocator.allocate());
  expect(new Set(ports).size).toBe(10);
  allocator.release(ports[3]!);
  expect(await portAllocator({ folder, range }).allocate()).toBe(ports[3]);
  allocator.releaseAll();
  expect(readdirSync(folder)).toHaveLength(1);
});

it("CORE-442 passes over a port on which somebody listens", async () => {
  const server = await new Promise<Server>((resolve) => {
    const listening = createServer().listen(31_921, "127.0.0.1", () => resolve(listening));
  });
  const allocator = portAllocator({ folder, range: [31_921, 31_922] });
  expect(await allocator.allocate()).toBe(31_922);
  await expect(allocator.allocate()).rejects.toThrow("no free port");
  server.close();
});

it("stays out of the range from which systems take ports of client connections", async () => {
  const allocator = portAllocator({ folder });
  for (let i = 0; i < 50; i++) {
    const port = await allocator.allocate();
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_768);
  }
});
