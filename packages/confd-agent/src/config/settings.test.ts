import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { ConfigError, UsageError } from "../errors.ts";
import { parseArguments, usage } from "./arguments.ts";
import { parseDuration } from "./duration.ts";
import { FLAGS, variableOf } from "./flags.ts";
import { loadSettings, type Settings } from "./settings.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const load = (
  args: readonly string[],
  environment = {},
  toml = "",
): { settings: Settings; warnings: readonly string[] } => {
  scene.write("confd.toml", toml);
  return loadSettings(parseArguments(["-config-file", scene.path("confd.toml"), ...args]), environment);
};

describe("the command line", () => {
  it.each(["-watch", "--watch", "--watch=true", "-watch=1", "-watch=T"])(
    "CONFD-CLI-1 %s is the same",
    (flag) => {
      expect(load([flag]).settings.watch).toBe(true);
    },
  );

  it("CONFD-CLI-1 CONFD-CLI-3 CONFD-CLI-6 names the flag and the value that is wrong", () => {
    const problems = {
      "-watch=maybe": 'flag -watch: invalid boolean value "maybe"',
      "-nope": "flag provided but not defined: -nope",
      "-interval=x": 'flag -interval: invalid duration "x"',
      "-concurrency=65": "flag -concurrency: 65 is out of range: use 1 to 64",
      "-log-level=loud": 'flag -log-level: invalid value "loud"',
      "-prefix": "flag needs an argument: -prefix",
      stray: 'unexpected argument "stray"',
    };
    for (const [arg, problem] of Object.entries(problems)) {
      expect(() => parseArguments([arg])).toThrow(UsageError);
      expect(() => parseArguments([arg])).toThrow(problem);
    }
  });

  it("CONFD-CLI-2 lists gather what is given and replace what the file says", () => {
    const { settings } = load(["-node", "a", "--node=b"], { CONFD_NODE: "c" }, 'nodes = ["d"]');
    expect(settings.nodes).toEqual(["a", "b"]);
    expect(load([], { CONFD_NODE: "c,e" }, 'nodes = ["d"]').settings.nodes).toEqual(["c", "e"]);
    expect(load([], {}, 'nodes = ["d"]').settings.nodes).toEqual(["d"]);
  });

  it("CONFD-CLI-4 a backend can be a word", () => {
    const word = load(["-onetime", "redis", "--node", "h:1"]).settings;
    expect(word).toEqual(load(["-backend", "redis", "-node", "h:1", "-onetime"]).settings);
    expect(() => load(["redis", "-backend", "etcd"])).toThrow("contradict each other");
  });

  it("CONFD-CLI-5 CONFD-CFG-16 CONFD-CLI-3 prints version and help, and the usage after a wrong call", async () => {
    expect(await scene.run(["-version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^confd \S+ .*Node/),
    });
    expect(await scene.run(["-h"])).toMatchObject({ code: 0, stdout: usage() });
    expect(await scene.run(["-x"])).toMatchObject({
      code: 2,
      stderr: `flag provided but not defined: -x\n${usage()}`,
    });
  });

  it("CONFD-CLI-7 an interval below a second is refused wherever it stands", () => {
    expect(() => load(["-interval", "0"])).toThrow("interval must be at least 1s");
    expect(() => load([], {}, "interval = 0")).toThrow("interval must be at least 1s");
  });

  it("CONFD-CLI-6 durations are Go's or seconds", () => {
    const cases = {
      "500ms": 500,
      "1m30s": 90_000,
      "7": 7000,
      "1.5s": 1500,
      "0": 0,
      x: undefined,
      "5 s": undefined,
      "1d": undefined,
      "-1s": undefined,
    };
    for (const [text, expected] of Object.entries(cases))
      expect([text, parseDuration(text)]).toEqual([text, expected]);
  });
});

describe("where settings come from", () => {
  it("CONFD-CFG-1 CONFD-CFG-2 flag before environment before file before default", () => {
    const environment = { CONFD_INTERVAL: "7" };
    expect(load(["-interval", "600"], environment, "interval = 5").settings.interval).toBe(600_000);
    expect(load([], environment, "interval = 5").settings.interval).toBe(7000);
    expect(load([], {}, "interval = 5").settings.interval).toBe(5000);
    expect(load([]).settings.interval).toBe(600_000);
  });

  it("CONFD-CFG-7 CONFD-CFG-8 an empty variable is none, and confd's variables keep working", () => {
    const environment = {
      CONFD_PREFIX: "",
      CONFD_CLIENT_CAKEYS: "/ca",
      CONFD_CLIENT_CERT: "/cert",
      CONFD_CLIENT_KEY: "/key",
    };
    expect(load([], environment, 'prefix = "/p"').settings).toMatchObject({
      prefix: "/p",
      clientCaKeys: "/ca",
      clientCert: "/cert",
      clientKey: "/key",
    });
  });

  it("CONFD-CFG-5 names of the file compare without case and dashes; what is unknown is a warning with the nearest name", () => {
    const { settings, warnings } = load(
      [],
      {},
      'Client_CaKeys = "/ca"\nsync_only = true\nintervall = 3\n[confd]\n',
    );
    expect(settings).toMatchObject({ clientCaKeys: "/ca", syncOnly: true, interval: 600_000 });
    expect(warnings).toEqual([
      expect.stringMatching(/unknown key intervall: did you mean interval\?$/),
      expect.stringMatching(/unknown table confd/),
    ]);
  });

  it("CONFD-CFG-4 CONFD-CFG-6 a file that is wrong is told with place, key and types", () => {
    expect(() => load([], {}, "interval = \n")).toThrow(/confd\.toml:1:\d+: /);
    expect(() => load([], {}, 'interval = "x"')).toThrow(ConfigError);
    expect(() => load([], {}, 'nodes = "a"')).toThrow(
      "confd.toml: nodes: expected a list of strings, found a string",
    );
  });

  it("CONFD-CFG-3 a named file that is missing is a warning", async () => {
    const { code, stderr } = await scene.run(["-onetime", "env", "-config-file", "/nowhere.toml"]);
    expect(code).toBe(0);
    expect(stderr).toContain("WARN config file /nowhere.toml does not exist");
  });

  it("CONFD-CFG-14 an unknown level is named, lines have time, level and text, and JSON its fields", async () => {
    scene.resource("a", { template: "x" });
    const wrong = await scene.run(["-onetime", "env", "-log-level", "loud"]);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('"loud"');
    const text = await scene.run(["-onetime", "env"]);
    expect(text.stdout).toBe("");
    expect(text.stderr).toMatch(/^\d{4}-\d\d-\d\dT\S+ \S+ \S+\[\d+\]: INFO /m);
    scene.write("a", "old");
    const json = await scene.run(["-onetime", "env", "-log-format", "json"]);
    const records = json.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.at(-1)).toMatchObject({ level: "info", resource: "a.toml", dest: scene.path("a") });
  });

  it("CONFD-CFG-12 CONFD-BE-9 CONFD-CFG-13 backends that cannot work end the agent", async () => {
    const cases = {
      ectd: 'Invalid backend "ectd": use one of consul, env, etcd,',
      ssm: "backend ssm is not included in this build",
      dynamodb: "backend dynamodb is not included in this build",
      vault: "vault: no token",
      file: "backend file: no file",
    };
    for (const [backend, problem] of Object.entries(cases)) {
      const outcome = await scene.run(["-onetime", "-backend", backend]);
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
    }
    const pair = await scene.run(["-onetime", "env", "-client-cert", "/c"]);
    expect(pair).toMatchObject({ code: 1, stderr: expect.stringContaining("belong together") });
  });

  it("CONFD-CFG-15 secrets are not shown, neither in the log nor in differences", async () => {
    scene.resource("a", { template: '{{getenv "SECRET"}}\n', lines: ['check_cmd = "echo $SECRET; exit 1"'] });
    const args = ["-onetime", "env", "-password", "s3cr3t", "-log-level", "trace"];
    const failing = await scene.run(args, { SECRET: "s3cr3t" });
    expect(failing.stderr).toContain("<hidden>");
    const differing = await scene.run([...args, "-noop", "-diff"], { SECRET: "s3cr3t" });
    expect(differing.stdout).toContain("+<hidden>");
    expect(failing.stderr + differing.stderr + differing.stdout).not.toContain("s3cr3t");
  });

  it("CONFD-CFG-15 nor is a password in the address of a node", async () => {
    scene.resource("a", { keys: ["/a"], template: "x" });
    const { stderr } = await scene.run(["-onetime", "redis", "-node", "redis://ann:s3cr3t@127.0.0.1:1"]);
    expect(stderr).toContain("redis://ann:<hidden>@127.0.0.1:1");
    expect(stderr).not.toContain("s3cr3t");
  });

  it("CONFD-CFG-1 every setting is a flag, a variable and a key of the file", () => {
    for (const { name, flagOnly, type } of FLAGS) {
      if (flagOnly === true || type !== "string") continue;
      const field = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const from = (settings: Settings): unknown => (settings as unknown as Record<string, unknown>)[field];
      expect([name, from(load([`-${name}`, "v"]).settings)]).toEqual([name, "v"]);
      expect([name, from(load([], { [variableOf(name)]: "v" }).settings)]).toEqual([name, "v"]);
      expect([name, from(load([], {}, `${name} = "v"`).settings)]).toEqual([name, "v"]);
    }
  });
});
