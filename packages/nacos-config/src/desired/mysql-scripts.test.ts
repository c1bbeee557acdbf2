/** What the containers run, run by a shell against programs that record their calls. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Container, EnvVar } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MYSQL_SCHEMA } from "../database/schema.ts";
import { NONE, nacos, templateOf } from "../fixtures.testkit.ts";
import { createDatabaseStatement, mysqlInit } from "./mysql-init.ts";
import { settingsOf } from "./settings.ts";

/** Everything that a shell, a SQL client or Kubernetes might take for something else. */
const AWKWARD = "a b'c\"d`e\\f$(MYSQL_HOST)$$g$h;i|j&k*?[l]{m}<n>#!~%ü\t-- /*";
const RESOURCE = nacos({
  mysqlInitImage: "example/mysql:8.4",
  database: {
    type: "mysql",
    mysqlHost: "db",
    mysqlPort: "3307",
    mysqlDb: AWKWARD,
    mysqlUser: AWKWARD,
    mysqlPassword: AWKWARD,
  },
});
const { configMap, job } = mysqlInit(settingsOf(RESOURCE))!;
const DATA = configMap.data!;
const POD = job.spec.template.spec;
const CONNECTION = ["--host=db", "--port=3307", "--protocol=tcp", `--user=${AWKWARD}`, "--connect-timeout=5"];
const CHARSET = "--default-character-set=utf8mb4";

describe("scripts, run by a shell", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nacos-mysql-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  interface Call {
    readonly program: string;
    readonly args: string[];
    readonly password: string;
    readonly input: string;
  }

  /** Installs a program that records its calls; the nth call ends with the nth code, later ones with the last. */
  function install(program: string, codes: readonly number[]): void {
    const script = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const log = ${JSON.stringify(join(folder, "calls"))};
let before = "";
try { before = readFileSync(log, "utf8"); } catch {}
const codes = ${JSON.stringify(codes)};
const past = before.split("\\n").filter((line) => line.includes('"program":"${program}"')).length;
const args = process.argv.slice(2);
const input = args.some((arg) => arg.startsWith("--execute")) || "${program}" !== "mysql" ? "" : readFileSync(0, "utf8");
appendFileSync(log, JSON.stringify({ program: "${program}", args, password: process.env.MYSQL_PWD ?? "", input }) + "\\n");
process.exit(codes[Math.min(past, codes.length - 1)]);
`;
    writeFileSync(join(folder, program), script);
    chmodSync(join(folder, program), 0o755);
  }

  /** Value of a variable as Kubernetes hands it to the container. */
  const expanded = ({ value = "" }: EnvVar, known: ReadonlyMap<string, string>): string =>
    value.replace(/\$(?:\$|\(([^)]*)\))/g, (text, name?: string) =>
      name === undefined ? "$" : (known.get(name) ?? text),
    );

  /** Runs a container's command with its variables and its files; the calls that it made. */
  function run({ command, env }: Container, data: Record<string, string> = {}): Call[] {
    const values = new Map<string, string>();
    for (const variable of env ?? []) values.set(variable.name, expanded(variable, values));
    for (const [name, text] of Object.entries(data)) writeFileSync(join(folder, name), text);
    // Waiting is not what is tried here.
    writeFileSync(join(folder, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
    const [shell, ...args] = command!.map((word) => word.replaceAll("/sql/", `${folder}/`));
    execFileSync(shell!, args, {
      env: { PATH: `${folder}:${process.env.PATH}`, ...Object.fromEntries(values) },
      stdio: "pipe",
      timeout: 20_000,
    });
    const lines = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Call);
  }

  it("NACOS-705 NACOS-706 waits until the server answers", () => {
    install("mysqladmin", [1, 1, 0]);
    const calls = run(POD.initContainers![0]!);
    expect(calls).toHaveLength(3);
    expect(calls[2]).toEqual({
      program: "mysqladmin",
      args: [...CONNECTION, "ping"],
      password: AWKWARD,
      input: "",
    });
  });

  it("NACOS-705 NACOS-706 creates a database of any name, and only one that cannot be used yet", () => {
    install("mysql", [1, 0]);
    const [first, second] = run(POD.initContainers![1]!, DATA);
    expect(first?.args).toEqual([...CONNECTION, CHARSET, `--database=${AWKWARD}`, "--execute=SELECT 1"]);
    expect(second).toEqual({
      program: "mysql",
      args: [...CONNECTION, CHARSET],
      password: AWKWARD,
      input: createDatabaseStatement(AWKWARD),
    });
    rmSync(join(folder, "calls"));
    install("mysql", [0]);
    expect(run(POD.initContainers![1]!, DATA)).toHaveLength(1);
  });

  it("NACOS-705 NACOS-706 feeds the schema to the client of that database", () => {
    install("mysql", [0]);
    const [call] = run(POD.containers[0]!, DATA);
    expect(call).toEqual({
      program: "mysql",
      args: [...CONNECTION, CHARSET, `--database=${AWKWARD}`],
      password: AWKWARD,
      input: MYSQL_SCHEMA,
    });
  });

  it("a failing client fails its container", () => {
    install("mysql", [1]);
    const attempt = (container: Container) => () => run(container, DATA);
    expect(attempt(POD.containers[0]!)).toThrow();
    expect(attempt(POD.initContainers![1]!)).toThrow();
  });

  it.each(["1", "peer"] as const)(
    "NACOS-705 NACOS-706 nodes of revision %s wait for the schema",
    (revision) => {
      install("mysql", [1, 0]);
      const calls = run(templateOf(RESOURCE, NONE, revision).spec.initContainers![0]!);
      expect(calls).toHaveLength(2);
      const query = "--execute=SELECT 1 FROM config_info LIMIT 1";
      expect(calls[1]).toMatchObject({
        args: [...CONNECTION, CHARSET, `--database=${AWKWARD}`, query],
        password: AWKWARD,
      });
    },
  );
});
