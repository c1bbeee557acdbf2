import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processExists } from "./lock.ts";
import { STOP_LIMIT_MS, supervisedChildren } from "./supervised.ts";
import { connectSupervisor, startSupervisor } from "./supervisor-client.ts";
import type { ComponentSpec } from "./supervisor-protocol.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-sup-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A component that runs a shell script. */
const script = (name: string, text: string): ComponentSpec => ({
  name,
  command: "/bin/sh",
  args: ["-c", text],
  log: join(folder, "..", `${folder.split("/").pop()}-${name}.log`),
});
const logOf = (name: string): string => readFileSync(script(name, "").log, "utf8");
afterEach(() => {
  for (const name of ["a", "b", "c"]) rmSync(script(name, "").log, { force: true });
});

/** Resolves when the condition holds; throws after 10 s. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error("condition does not hold after 10 s");
    await sleep(20);
  }
}
const logHas =
  (name: string, text: string): (() => boolean) =>
  () =>
    existsSync(script(name, "").log) && logOf(name).includes(text);

/** Notes when it gets SIGTERM and when it ends, as lines of digits. */
const patient = (name: string): ComponentSpec =>
  script(name, `trap 'date +%s%N; sleep 0.1; date +%s%N; exit 0' TERM; sleep 100 & echo started; wait`);

const timesIn = (log: string): number[] => (log.match(/^\d+$/gm) ?? []).map(Number);

describe("supervised children", () => {
  it("CORE-444 runs each child in its own process group and ends it by SIGTERM, then SIGKILL after the limit", async () => {
    const children = supervisedChildren(300);
    children.start(script("a", "trap 'echo ignored' TERM; echo started; while :; do sleep 0.02; done"));
    await until(logHas("a", "started"));
    const [status] = children.status();
    // Signal 0 to a process group succeeds only if there is one of that id.
    expect(() => process.kill(-status!.pid, 0)).not.toThrow();
    const started = Date.now();
    await children.stop("a");
    expect(Date.now() - started).toBeGreaterThanOrEqual(290);
    expect(logOf("a")).toContain("ignored");
    expect(children.status()[0]).toMatchObject({ running: false, signal: "SIGKILL" });
    expect(STOP_LIMIT_MS).toBe(20_000);
  });

  it("stops in the opposite order of the start, each after the one before has exited", async () => {
    const children = supervisedChildren();
    for (const name of ["a", "b", "c"]) children.start(patient(name));
    for (const name of ["a", "b", "c"]) await until(logHas(name, "started"));
    await children.stopAll();
    const times = ["c", "b", "a"].flatMap((name) => timesIn(logOf(name)));
    expect(times).toHaveLength(6);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
  });

  it("ends a child that is paused", async () => {
    const children = supervisedChildren();
    children.start(patient("a"));
    await until(logHas("a", "started"));
    await children.signal("a", "SIGSTOP");
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(children.status()[0]!.pid)]);
    expect(stdout.toString()).toMatch(/^\s*T/);
    await children.stop("a");
    expect(children.status()[0]).toMatchObject({ running: false, code: 0 });
  });

  it("pauses a child that starts programs all the time, also in the midst of a start", async () => {
    const children = supervisedChildren();
    children.start(script("a", "echo started; while :; do /bin/true; done"));
    await until(logHas("a", "started"));
    for (let pause = 0; pause < 100; pause++) {
      await children.signal("a", "SIGSTOP");
      await children.signal("a", "SIGCONT");
    }
    await children.stop("a");
    expect(children.status()[0]).toMatchObject({ running: false, signal: "SIGTERM" });
  });

  it("refuses to start what runs, and to touch what it does not know", async () => {
    const children = supervisedChildren();
    children.start(script("a", "sleep 100"));
    expect(() => children.restart("a")).toThrow("a runs already");
    await expect(children.signal("x", "SIGTERM")).rejects.toThrow("no component x: known are a");
    await children.stopAll();
  });

  it("reports a program that cannot be started", async () => {
    const children = supervisedChildren();
    children.start({ ...script("a", ""), command: join(folder, "absent") });
    await sleep(50);
    expect(children.status()[0]).toMatchObject({ running: false });
    await children.stopAll();
  });
});

describe("supervisor", () => {
  it("CORE-442 removes the work folder at the end, or keeps it with the logs", async () => {
    const supervisor = await startSupervisor(folder);
    await supervisor.start(script("a", "sleep 100"));
    const [status] = await supervisor.status();
    await supervisor.shutdown();
    expect(processExists(status!.pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);

    const kept = mkdtempSync(join(tmpdir(), "quartet-sup-"));
    const second = await startSupervisor(kept);
    await second.start({ ...script("a", "echo said; sleep 100"), log: join(kept, "a.log") });
    await until(() => readFileSync(join(kept, "a.log"), "utf8") === "said\n");
    await connectSupervisor(kept).keep();
    await second.shutdown();
    expect(readFileSync(join(kept, "a.log"), "utf8")).toBe("said\n");
    rmSync(kept, { recursive: true });
  });

  it("serves other processes too: restart and pause by the socket of the folder", async () => {
    const owner = await startSupervisor(folder);
    await owner.start(script("a", "sleep 100"));
    const other = connectSupervisor(folder);
    const [before] = await other.status();
    await other.stop("a");
    await other.restart("a");
    const [after] = await owner.status();
    expect(after).toMatchObject({ running: true, starts: 2 });
    expect(after!.pid).not.toBe(before!.pid);
    await expect(other.restart("a")).rejects.toThrow("a runs already");
    await owner.shutdown();
    await expect(other.status()).rejects.toThrow("supervisor of the control plane");
  });

  it("CORE-444 leaves no process behind when the owner is killed, and keeps the logs", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "supervisor-client.ts"));
    const code = `
      const { startSupervisor } = await import(${module});
      const supervisor = await startSupervisor(${JSON.stringify(folder)});
      await supervisor.start(${JSON.stringify({ ...patient("a"), log: join(folder, "a.log") })});
      console.log((await supervisor.status())[0].pid);
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    const pid = await new Promise<number>((resolve) => {
      owner.stdout.once("data", (data: Buffer) => resolve(Number(data.toString())));
    });
    await until(() => readFileSync(join(folder, "a.log"), "utf8").includes("started"));
    expect(processExists(pid)).toBe(true);
    owner.kill("SIGKILL");
    await until(() => !processExists(pid));
    // It was ended in order, by SIGTERM: its trap ran.
    expect(timesIn(readFileSync(join(folder, "a.log"), "utf8"))).toHaveLength(2);
  });

  it("CORE-444 kills the components when the supervisor itself is killed", async () => {
    const supervisor = await startSupervisor(folder);
    await supervisor.start(script("a", "sleep 100"));
    const [status] = await supervisor.status();
    const parent = Number(spawnSync("ps", ["-o", "ppid=", "-p", String(status!.pid)]).stdout.toString());
    process.kill(parent, "SIGKILL");
    await until(() => !processExists(status!.pid));
  });

  it("refuses a work folder whose path is too long for a socket", async () => {
    await expect(startSupervisor(join(folder, "x".repeat(100)))).rejects.toThrow("shorter path");
  });
});
