import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "@quartet/core";
import { type Double, startDouble } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { runCli } from "./cli.ts";
import { echoModule } from "./echo.testkit.ts";
import type { Program } from "./program.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that needs neither a cluster nor settings. */
const SHOUT = {
  words: "echo shout",
  help: "TEXT: says it aloud",
  text: async ([text, ...more]: readonly string[]): Promise<string> => {
    if (text === undefined || more.length > 0) throw new ConfigurationError("one TEXT is needed");
    return `${text.toUpperCase()}\n`;
  },
};

/** Runs the program; `signals` gets the handlers that it sets. */
async function run(
  args: string[],
  env: Record<string, string> = {},
  signals: Map<string, () => void> = new Map(),
  exits: number[] = [],
): Promise<Outcome> {
  const outcome = { stdout: "", stderr: "" };
  const program: Program = {
    args,
    env,
    modules: [{ ...echoModule(), offlineCommands: [SHOUT] }, echoModule(undefined, "second")],
    stdout: { write: (text: string) => (outcome.stdout += text) },
    stderr: { write: (text: string) => (outcome.stderr += text) },
    onSignal(signal, fn) {
      signals.set(signal, fn);
      return () => void signals.delete(signal);
    },
    exit: (code) => void exits.push(code),
  };
  return { code: await runCli(program), ...outcome };
}

describe("commands that print", () => {
  it.each([[["version"]], [["--version"]], [["--version", "--bogus"]]])(
    "prints the version for %j",
    async (args) => {
      const { code, stdout } = await run(args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^quartet \S+ \(commit \S+, node v\d+\.\d+\.\d+\)\n$/);
    },
  );

  it("runs a command of a module that needs no cluster, whatever the settings are", async () => {
    expect(await run(["echo", "shout", "hi"], { QUARTET_LEASE_DURATION: "bogus" })).toEqual({
      code: 0,
      stdout: "HI\n",
      stderr: "",
    });
    expect(await run(["echo", "shout"])).toMatchObject({ code: 2, stderr: "quartet: one TEXT is needed\n" });
    expect((await run(["help"])).stdout).toContain("  echo shout\n           TEXT: says it aloud\n");
  });

  it("prints the effective configuration", async () => {
    const { code, stdout } = await run(["--print-config", "--controllers=echo", "--lease-duration=20s"], {
      QUARTET_ECHO_RESYNC: "1m",
    });
    expect(code).toBe(0);
    expect(parse(stdout)).toMatchObject({
      kind: "ManagerConfig",
      controllers: ["echo"],
      leaderElection: { leaseDuration: "20s", renewDeadline: "10s" },
      echoResync: "1m",
    });
  });

  it("CORE-397 prints roles for the controllers and namespaces asked for, without a cluster", async () => {
    const { code, stdout } = await run([
      "--print-rbac",
      "--controllers=echo",
      "--namespaces=a",
      "--leader-election-namespace=ops",
    ]);
    expect(code).toBe(0);
    const roles = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(roles.map((role) => `${role.kind} ${role.metadata.namespace}/${role.metadata.name}`)).toEqual([
      "Role a/quartet-manager",
      "Role ops/quartet-core",
    ]);
    expect(stdout).not.toContain("*");
  });

  it.each([[["--help"]], [["-h"]], [["help"]], [["run", "--help", "--bogus"]]])(
    "lists all flags with their environment variables, whatever else is wrong: %j",
    async (args) => {
      const { code, stdout } = await run(args, { QUARTET_BOGUS: "1" });
      expect(code).toBe(0);
      expect(stdout).toContain("--lease-duration (default 15s)");
      expect(stdout).toContain("QUARTET_LEASE_DURATION");
      expect(stdout).toContain("--echo-resync (default 30s)");
    },
  );
});

describe("bad configuration", () => {
  it.each<[string[], Record<string, string>, RegExp]>([
    [["--lease-duraton=3s"], {}, /unknown flag --lease-duraton; did you mean --lease-duration\?/],
    [
      [],
      { QUARTET_CONTROLERS: "x" },
      /unknown environment variable QUARTET_CONTROLERS; did you mean QUARTET_CONTROLLERS\?/,
    ],
    [["--controllers=tras"], {}, /unknown controller "tras"; known are echo, second/],
    [["--controllers=-echo,-second"], {}, /leaves no controller to run/],
    [["--feature-gates=Foo=true"], {}, /unrecognized feature gate: Foo/],
    [
      ["bogus"],
      {},
      /unknown command bogus: known are run, dev, explain, patch, serves, plan, adopt-crd, version, help, echo shout/,
    ],
    [["run", "twice"], {}, /run takes no argument twice/],
    [["--kubeconfig=/nowhere"], {}, /--kubeconfig \/nowhere: no such file/],
  ])("CORE-401 ends with code 2 and says why: %j %j", async (args, env, message) => {
    const { code, stderr } = await run(args, env);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^quartet: /);
    expect(stderr).toMatch(message);
  });
});

describe("against an API server", () => {
  let api: Double;
  let folder: string;
  beforeEach(async () => {
    api = await startDouble();
    folder = await mkdtemp(join(tmpdir(), "quartet-cli-"));
  });
  afterEach(async () => {
    await api.stop();
    await rm(folder, { recursive: true });
  });

  const flags = async (user?: string): Promise<string[]> => {
    const file = join(folder, "kubeconfig.yaml");
    await writeFile(file, await api.kubeconfig(user === undefined ? {} : { user, groups: [] }));
    return [
      `--kubeconfig=${file}`,
      "--metrics-bind-address=127.0.0.1:0",
      "--health-probe-bind-address=127.0.0.1:0",
      "--debug-bind-address=0",
      "--log-level=error",
    ];
  };

  it("CORE-398 checks rights with --check: 0 when all are there, 3 with the missing rules when not", async () => {
    const fine = await run([...(await flags()), "--check"]);
    expect(fine).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/configuration and rights are fine/),
    });
    const missing = await run([...(await flags("nobody")), "--check"]);
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(/missing rights[\s\S]*- echoes\n/);
  });

  it("CORE-401 ends with code 3 when rights are missing at the start", async () => {
    const { code, stderr } = await run(await flags("nobody"));
    expect(code).toBe(3);
    expect(stderr).toMatch(/missing rights[\s\S]*- echoes\n/);
  });

  it("CORE-262 stops with code 0 at SIGTERM", async () => {
    const signals = new Map<string, () => void>();
    const done = run(await flags(), {}, signals);
    await vi.waitFor(async () => expect(await api.requests({ verb: "watch" })).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 100));
    signals.get("SIGTERM")!();
    expect((await done).code).toBe(0);
    expect(signals.size).toBe(0);
  });

  it("CORE-264 ends at once with code 1 at the second signal", async () => {
    const signals = new Map<string, () => void>();
    const exits: number[] = [];
    const done = run(await flags(), {}, signals, exits);
    await vi.waitFor(async () => expect(await api.requests({ verb: "watch" })).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 100));
    signals.get("SIGINT")!();
    expect(exits).toEqual([]);
    signals.get("SIGTERM")!();
    expect(exits).toEqual([1]);
    await done;
  });
});
