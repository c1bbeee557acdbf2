import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, type FlagValues, type ModuleFlag } from "@quartet/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { configFileContent } from "./config-file.ts";
import { type LoadedSettings, loadSettings } from "./load.ts";

const FLAGS: readonly ModuleFlag[] = [
  { name: "nacos-resync", type: "duration", default: "30s", help: "pause between two checks" },
  { name: "nacos-skip-node-check", type: "boolean", default: "false", help: "ask no node" },
];
const GATE = { name: "LabelPatches", stage: "Beta", since: "0.1.0", help: "patches by label" } as const;
const modules = [
  { name: "nacos", aliases: ["nacos-config"], flags: FLAGS },
  { name: "tars", aliases: ["tars-tserver"], flags: [], gates: [GATE] },
];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quartet-config-"));
});
afterEach(() => rm(folder, { recursive: true }));

const load = (args: string[], env: Record<string, string> = {}): Promise<LoadedSettings> =>
  loadSettings({ args, env, modules });

async function configFile(fields: string): Promise<string> {
  const file = join(folder, "manager.yaml");
  await writeFile(file, `apiVersion: config.quartet.io/v1alpha1\nkind: ManagerConfig\n${fields}\n`);
  return file;
}

describe("controllers that only plan", () => {
  it("CORE-241 are none by default, and named by any of their names", async () => {
    expect((await load([])).settings).toMatchObject({ dryRunControllers: [], warnings: [] });
    const { settings } = await load(["--dry-run-controllers=nacos-config"]);
    expect(settings.dryRunControllers).toEqual(["nacos"]);
    expect(settings.warnings).toEqual([expect.stringContaining("nacos runs dry")]);
    const file = await configFile('dryRunControllers: ["*"]');
    expect((await load([`--config=${file}`])).settings.dryRunControllers).toEqual(["nacos", "tars"]);
    await expect(load(["--dry-run-controllers=nacoz"])).rejects.toThrow(/dry-run-controllers.*nacoz/);
  });
});

describe("sources of settings", () => {
  it("has the documented defaults", async () => {
    const { settings } = await load([]);
    expect(settings).toMatchObject({
      controllers: ["nacos", "tars"],
      namespaces: [],
      kube: { kubeconfig: undefined, qps: -1, burst: 0, compression: false },
      leaderElection: {
        enabled: "auto",
        id: "quartet-manager",
        namespace: undefined,
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2_000,
        releaseOnCancel: true,
      },
      metrics: { address: { port: 8080 }, secure: false },
      health: { address: { port: 8081 } },
      webhook: { port: 9443, certMode: "self" },
      concurrency: { default: 4, byController: {} },
      reconcileTimeoutMs: 300_000,
      syncPeriodMs: 36_000_000,
      cacheSyncTimeoutMs: 120_000,
      warmup: true,
      recoverPanic: true,
      gracefulShutdownTimeoutMs: 30_000,
      shutdownDelayMs: 5_000,
      log: { levels: { default: "info", byLogger: {} }, format: "json" },
      moduleFlags: { "nacos-resync": 30_000, "nacos-skip-node-check": false },
    });
  });

  it("prefers the flag to the environment, the environment to the file, the file to the default", async () => {
    const file = await configFile(
      "leaderElection: {id: from-file, namespace: from-file}\nreconcileTimeout: 1m",
    );
    const env = {
      QUARTET_CONFIG: file,
      QUARTET_LEADER_ELECTION_NAMESPACE: "from-env",
      QUARTET_WARMUP: "false",
    };
    const { settings } = await load(["--warmup=true"], env);
    expect(settings.warmup).toBe(true);
    expect(settings.leaderElection).toMatchObject({ namespace: "from-env", id: "from-file" });
    expect(settings.reconcileTimeoutMs).toBe(60_000);
  });

  it("takes WATCH_NAMESPACE and LEADER_ELECTION_NAMESPACE, behind the prefixed names", async () => {
    const aliases = { WATCH_NAMESPACE: "a,b", LEADER_ELECTION_NAMESPACE: "ops" };
    expect((await load([], aliases)).settings.namespaces).toEqual(["a", "b"]);
    expect((await load([], aliases)).settings.leaderElection.namespace).toBe("ops");
    expect((await load([], { ...aliases, QUARTET_NAMESPACES: "c" })).settings.namespaces).toEqual(["c"]);
  });

  it("ignores empty variables, switches of tests, and the links of Services named quartet", async () => {
    const { settings } = await load([], {
      QUARTET_RECONCILE_TIMEOUT: "",
      QUARTET_CACHE_GUARD: "1",
      QUARTET_TEST_ETCD: "/bin/etcd",
      QUARTET_WEBHOOK_PORT: "tcp://10.0.0.1:443",
      QUARTET_WEBHOOK_PORT_443_TCP: "tcp://10.0.0.1:443",
      QUARTET_WEBHOOK_PORT_443_TCP_ADDR: "10.0.0.1",
      QUARTET_WEBHOOK_SERVICE_HOST: "10.0.0.1",
      QUARTET_WEBHOOK_SERVICE_PORT_HTTPS: "443",
    });
    expect(settings.webhook.port).toBe(9443);
    expect(settings.reconcileTimeoutMs).toBe(300_000);
  });

  it("reads modules' flags from every source", async () => {
    const file = await configFile("nacosResync: 5s");
    expect((await load(["--config", file])).settings.moduleFlags).toMatchObject({ "nacos-resync": 5_000 });
    expect((await load(["--nacos-skip-node-check"])).settings.moduleFlags).toMatchObject({
      "nacos-skip-node-check": true,
    });
    expect((await load([], { QUARTET_NACOS_RESYNC: "1m" })).settings.moduleFlags).toMatchObject({
      "nacos-resync": 60_000,
    });
  });

  it("reads lists and maps of the file", async () => {
    const file = await configFile(
      `controllers: ["*", "-tars"]
featureGates: {LabelPatches: false}
namespaces: [team-a, team-b]
maxConcurrentReconciles: {default: 2, nacos: 8}
leaderElection: {enabled: true, leaseDuration: 30s, releaseOnCancel: false}
webhook: {port: -1, certMode: files}
log: {level: "warn,tars=debug", format: console}`,
    );
    const { settings } = await load([`--config=${file}`]);
    expect(settings).toMatchObject({
      controllers: ["nacos"],
      features: { LabelPatches: false },
      namespaces: ["team-a", "team-b"],
      concurrency: { default: 2, byController: { nacos: 8 } },
      leaderElection: { enabled: true, leaseDurationMs: 30_000, releaseOnCancel: false },
      webhook: { port: undefined, certMode: "files" },
      log: { levels: { default: "warn", byLogger: { tars: "debug" } }, format: "console" },
    });
  });

  it("returns the words of the command line", async () => {
    const { words } = await load(["explain", "nacos", "ns/name", "--controllers", "-tars"]);
    expect(words).toEqual(["explain", "nacos", "ns/name"]);
  });

  it("takes other defaults for a command, behind every other source", async () => {
    const defaults = (words: readonly string[]): Record<string, string> =>
      words[0] === "dev" ? { "leader-elect": "false", "log-format": "console" } : {};
    const loadFor = (args: string[]): Promise<LoadedSettings> =>
      loadSettings({ args, env: {}, modules, defaults });
    const dev = (await loadFor(["--controllers", "tars", "dev", "--log-format=json"])).settings;
    expect(dev.leaderElection.enabled).toBe(false);
    expect(dev.log.format).toBe("json");
    expect((await loadFor([])).settings.leaderElection.enabled).toBe("auto");
  });

  it("prints a config that reads back to the same settings", async () => {
    const first = await load([
      "--max-concurrent-reconciles=2,tars=8",
      "--controllers=tars",
      "--namespaces=a,b",
    ]);
    const printed = stringify(configFileContent(first.texts, first.specs));
    expect(parse(printed)).toMatchObject({
      maxConcurrentReconciles: { default: 2, tars: 8 },
      controllers: ["tars"],
      leaderElection: { leaseDuration: "15s" },
      nacosResync: "30s",
    });
    const file = join(folder, "printed.yaml");
    await writeFile(file, printed);
    expect((await load(["--config", file])).settings).toEqual(first.settings);
  });
});

describe("errors of settings", () => {
  it.each([
    [["--reconcile-timeout=10"], {}, "--reconcile-timeout"],
    [[], { QUARTET_SYNC_PERIOD: "10" }, "QUARTET_SYNC_PERIOD"],
  ])("CORE-390 names the flag of a duration without unit: %j %j", async (args, env, origin) => {
    await expect(load(args, env as Record<string, string>)).rejects.toThrow(
      `${origin}: "10" lacks a unit: write 10s, 10m or 10h`,
    );
  });

  it.each<[string[], Record<string, string>, RegExp]>([
    [["--lease-duraton=3s"], {}, /^unknown flag --lease-duraton; did you mean --lease-duration\?$/],
    [["-x"], {}, /^unknown flag -x; --help lists all$/],
    [
      [],
      { QUARTET_LEASE_DURATON: "3s" },
      /^unknown environment variable QUARTET_LEASE_DURATON; did you mean QUARTET_LEASE_DURATION\?$/,
    ],
    [["--reconcile-timeout=10"], {}, /^--reconcile-timeout: "10" lacks a unit: write 10s/],
    [[], { QUARTET_SYNC_PERIOD: "10" }, /^QUARTET_SYNC_PERIOD: "10" lacks a unit/],
    [["--reconcile-timeout=-1s"], {}, /^--reconcile-timeout: "-1s" is too short/],
    [["--kubeconfig"], {}, /^--kubeconfig needs a value/],
    [["--warmup=maybe"], {}, /^--warmup: "maybe" is not a boolean: write true or false$/],
    [["--leader-elect=maybe"], {}, /^--leader-elect: "maybe" is not known: write one of auto, true, false$/],
    [["--webhook-port=x"], {}, /^--webhook-port: "x" is not a whole number$/],
    [["--webhook-port=99999"], {}, /^--webhook-port: 99999 is too high: it must be at most 65535$/],
    [["--nacos-resync=-5m"], {}, /^--nacos-resync: "-5m" is too short: it must be at least 0ms$/],
    [["--namespaces=a,Team_B"], {}, /^--namespaces: "Team_B" cannot be the name of a namespace: write/],
    [[], { WATCH_NAMESPACE: "a b" }, /^WATCH_NAMESPACE: "a b" cannot be the name of a namespace/],
    [["--leader-election-namespace=A"], {}, /^--leader-election-namespace: "A" cannot be the name of/],
    [["--leader-election-id="], {}, /^--leader-election-id: "" cannot be the name of an object: write/],
    [["--leader-election-id=A B"], {}, /^--leader-election-id: "A B" cannot be the name of an object/],
    [["--release-name=a_b"], {}, /^--release-name: "a_b" cannot be the name of an object/],
    [["--metrics-bind-address=8080"], {}, /^--metrics-bind-address: "8080" is not a listen address/],
    [["--log-level=loud"], {}, /^--log-level: "loud" is not a log level/],
    [["--max-concurrent-reconciles=0"], {}, /^--max-concurrent-reconciles: "0": a concurrency is/],
    [
      ["--max-concurrent-reconciles=tras=2"],
      {},
      /^--max-concurrent-reconciles: controllers: unknown controller "tras"/,
    ],
    [["--controllers=foo"], {}, /unknown controller "foo"/],
    [["--feature-gates=Foo=true"], {}, /^unrecognized feature gate: Foo/],
    [["--config=/nowhere/x.yaml"], {}, /^--config: cannot read \/nowhere\/x.yaml/],
  ])("CORE-390 CORE-401 refuses %j %j", async (args, env, message) => {
    const error = await load(args, env).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(message);
  });

  it.each([
    [
      "leaderElection: {leaseDuraton: 3s}",
      /^unknown field leaderElection.leaseDuraton in .*did you mean leaderElection.leaseDuration\?$/,
    ],
    ["lease: {}", /^unknown field lease in/],
    ["leaderElection: 3", /^leaderElection in .*: it must be a map of fields$/],
    ["namespaces: {a: b}", /^namespaces in .*: it must be a list/],
    ["reconcileTimeout: 10", /^reconcileTimeout in .*: "10" lacks a unit/],
    ["warmup: [", /is not YAML/],
  ])("refuses the config file %j", async (fields, message) => {
    const file = await configFile(fields);
    await expect(load(["--config", file])).rejects.toThrow(message);
  });

  it("refuses a config file of another kind", async () => {
    const file = join(folder, "other.yaml");
    await writeFile(file, "apiVersion: v1\nkind: ConfigMap\n");
    await expect(load(["--config", file])).rejects.toThrow(/kind ManagerConfig, found v1 and ConfigMap/);
  });

  it.each([
    ["--lease-duration=10s", /lease ≤ renew/],
    ["--renew-deadline=2.4s", /renew ≤ 1.2 × retry/],
    ["--retry-period=0s", /a duration is ≤ 0/],
    ["--lease-duration=-1s", /a duration is ≤ 0/],
  ])("CORE-252 refuses %s", async (flag, message) => {
    await expect(load([flag])).rejects.toThrow(message);
  });
});

describe("flags of modules", () => {
  const flags: readonly ModuleFlag[] = [
    { name: "mode", type: "enum", values: ["auto", "owner"], default: "auto", help: "who works" },
    { name: "pause", type: "duration", default: "1m", help: "between two looks" },
    { name: "names", type: "list", default: "a,b", help: "of things" },
    { name: "places", type: "list", format: "namespace", default: "", help: "where" },
    { name: "peer", type: "namespace", default: "", help: "where the peer is" },
    { name: "share", type: "number", min: 0, max: 1, default: "0.5", help: "of all" },
  ];
  const read = (...args: string[]): Promise<FlagValues> =>
    loadSettings({ args, env: {}, modules: [{ name: "m", aliases: [], flags }] }).then(
      ({ settings }) => settings.moduleFlags,
    );

  it("CORE-390 have values by their types", async () => {
    expect(await read()).toEqual({
      mode: "auto",
      pause: 60_000,
      names: ["a", "b"],
      places: [],
      peer: "",
      share: 0.5,
    });
    expect(await read("--mode=owner", "--names= x ,, y", "--places=n1,n2,n1", "--peer=p")).toMatchObject({
      mode: "owner",
      names: ["x", "y"],
      places: ["n1", "n2"],
      peer: "p",
    });
  });

  it.each([
    ["--mode=both", /--mode.*"both" is not known: write one of auto, owner/],
    ["--pause=10", /--pause/],
    ["--pause=-1s", /--pause.*at least 0ms/],
    ["--places=Team", /--places.*Team/],
    ["--peer=a/b", /--peer.*a\/b/],
    ["--share=2", /--share.*at most 1/],
  ])("CORE-390 refuse %s, with the flag, the value and what is allowed", async (arg, message) => {
    await expect(read(arg)).rejects.toThrow(ConfigurationError);
    await expect(read(arg)).rejects.toThrow(message);
  });
});
