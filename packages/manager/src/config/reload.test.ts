import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogging, parseLogLevels } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadSettings } from "./load.ts";
import { followConfigFile } from "./reload.ts";
import type { ManagerSettings } from "./settings.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quartet-reload-"));
});
afterEach(() => rm(folder, { recursive: true }));

const modules = [{ name: "tars", aliases: [], flags: [] }];
const HEAD = "apiVersion: config.quartet.io/v1alpha1\nkind: ManagerConfig\n";

describe("reload of the config file", () => {
  it("CORE-400 hands on log levels and concurrency, asks for a restart for all else, and survives a bad file", async () => {
    const file = join(folder, "config.yaml");
    const write = (fields: string): Promise<void> => writeFile(file, HEAD + fields);
    await write("log: {level: info}\n");
    const clock = fakeClock();
    const lines: string[] = [];
    const { log } = createLogging({
      levels: parseLogLevels("info"),
      destination: { write: (line) => lines.push(line) },
      clock,
    });
    const load = () =>
      loadSettings({
        args: ["--config", file],
        env: {},
        modules,
      });
    const applied: ManagerSettings[] = [];
    const stop = new AbortController();
    const current = await load();
    const following = followConfigFile(
      { file, current, load, onChange: (settings) => applied.push(settings), clock, log },
      stop.signal,
    );
    const tick = async (): Promise<void> => {
      await clock.advance(10_000);
      // Reading the file takes real time.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await clock.flush();
    };
    const last = (): unknown => JSON.parse(lines.at(-1)!);
    await new Promise((resolve) => setTimeout(resolve, 50));

    await write("log: {level: debug}\nmaxConcurrentReconciles: {default: 2, tars: 8}\n");
    await tick();
    expect(applied).toHaveLength(1);
    expect(applied[0]).toMatchObject({
      log: { levels: { default: "debug" } },
      concurrency: { default: 2, byController: { tars: 8 } },
    });
    expect(last()).toMatchObject({ level: "info", flags: ["max-concurrent-reconciles", "log-level"] });

    await write("log: {level: debug}\nmaxConcurrentReconciles: {default: 2, tars: 8}\nwarmup: false\n");
    await tick();
    expect(applied).toHaveLength(1);
    expect(last()).toMatchObject({ msg: "Configuration changed, restart needed", flags: ["warmup"] });

    await write("warmupp: false\n");
    await tick();
    expect(applied).toHaveLength(1);
    expect(last()).toMatchObject({ level: "error", error: expect.stringContaining("unknown field warmupp") });

    await tick();
    expect(lines).toHaveLength(3);
    stop.abort();
    await following;
    expect(clock.pending).toBe(0);
  });

  it("CORE-400 sees a change that came between the reading of the settings and the end of the start", async () => {
    const file = join(folder, "config.yaml");
    await writeFile(file, `${HEAD}log: {level: info}\n`);
    const clock = fakeClock();
    const { log } = createLogging({ levels: parseLogLevels("error"), clock });
    const load = () => loadSettings({ args: ["--config", file], env: {}, modules });
    const current = await load();
    await writeFile(file, `${HEAD}log: {level: debug}\n`);
    const levels: string[] = [];
    const onChange = (settings: ManagerSettings): void => void levels.push(settings.log.levels.default);
    const stop = new AbortController();
    const following = followConfigFile({ file, current, load, onChange, clock, log }, stop.signal);
    await vi.waitFor(
      async () => {
        await clock.advance(10_000);
        expect(levels).toEqual(["debug"]);
      },
      { timeout: 10_000, interval: 20 },
    );
    stop.abort();
    await following;
  });
});
