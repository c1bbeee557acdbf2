import type { Container, JsonMap, PodSpec } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { bundledSql, MYSQL_SCHEMA } from "../database/schema.ts";
import { envOf, nacos, peerAdoptions, templateOf } from "../fixtures.testkit.ts";
import { createDatabaseStatement, type MysqlInit, mysqlInit } from "./mysql-init.ts";
import { fixedLabels } from "./names.ts";
import { settingsOf } from "./settings.ts";
import { updatedStatefulSet } from "./statefulset.ts";

const INIT = { mysqlInitImage: "example/mysql:8.4" };
const database = (more: JsonMap = {}): JsonMap => ({ type: "mysql", mysqlHost: "db", ...more });
const withPassword = (more: JsonMap = {}): JsonMap => database({ mysqlPassword: "pw", ...more });
const byReference = database({ credentialsSecretRef: { name: "login", passwordKey: "pw" } });
function initOf(spec: JsonMap): MysqlInit {
  const resource = nacos({ ...INIT, ...spec });
  return mysqlInit(settingsOf(resource))!;
}
const podOf = (spec: JsonMap): PodSpec => initOf(spec).job.spec.template.spec;
const containersOf = (pod: PodSpec): Container[] => [...(pod.initContainers ?? []), ...pod.containers];
const checkOf = (spec: JsonMap): Container | undefined =>
  templateOf(nacos({ ...INIT, ...spec })).spec.initContainers?.[0];

describe("MySQL initialisation", () => {
  it("NACOS-701 NACOS-702 is for MySQL with an image for it alone", () => {
    for (const spec of [{ database: withPassword() }, { ...INIT }, { ...INIT, database: { type: "pg" } }]) {
      const resource = nacos(spec);
      expect(mysqlInit(settingsOf(resource))).toBeUndefined();
      expect(templateOf(resource).spec).not.toHaveProperty("initContainers");
    }
  });

  it("NACOS-705 NACOS-707 waits, creates the database and applies the schema in one Job by the given image", () => {
    const { configMap, job } = initOf({ database: withPassword() });
    for (const { metadata } of [configMap, job]) {
      expect(metadata).toMatchObject({ name: "demo-mysql-sql-init", labels: fixedLabels("demo") });
      expect(metadata.ownerReferences).toMatchObject([{ kind: "Nacos", name: "demo", controller: true }]);
    }
    expect(job.spec).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 600 });
    expect(job.spec).not.toHaveProperty("ttlSecondsAfterFinished");
    const pod = job.spec.template.spec;
    expect(pod.restartPolicy).toBe("Never");
    expect(containersOf(pod).map(({ name, image }) => [name, image])).toEqual([
      ["mysql-wait-server", "example/mysql:8.4"],
      ["mysql-create-database", "example/mysql:8.4"],
      ["mysql-sql-init", "example/mysql:8.4"],
    ]);
    expect(pod.containers).toHaveLength(1);
    expect(checkOf({ database: withPassword() })).toMatchObject({
      name: "mysql-check-database",
      image: "example/mysql:8.4",
    });
  });

  it("NACOS-705 keeps the Job's pods out of the Services of the nodes", () => {
    const labels = initOf({ database: withPassword() }).job.spec.template.metadata.labels ?? {};
    const selector = Object.entries(fixedLabels("demo"));
    expect(selector.every(([name, value]) => labels[name] === value)).toBe(false);
  });

  it("NACOS-704 NACOS-706 hands the password on as a reference, in the variable that MySQL reads", () => {
    const { configMap, job } = initOf({ database: { ...byReference, mysqlPassword: "MARK-1" } });
    for (const container of [...containersOf(job.spec.template.spec), checkOf({ database: byReference })!]) {
      expect(envOf(container)).toEqual(
        expect.arrayContaining(["MYSQL_USER<-login/username", "MYSQL_PWD<-login/pw"]),
      );
    }
    expect(JSON.stringify([configMap, job])).not.toContain("MARK-1");
  });

  it("NACOS-706 has neither password nor name nor SQL in a command", () => {
    const plain = {
      database: withPassword({ mysqlPassword: "MARK-1", mysqlDb: "MARK-2", mysqlUser: "MARK-3" }),
    };
    const containers = [...containersOf(podOf(plain)), checkOf(plain)!];
    for (const { command, args, env } of containers) {
      expect(JSON.stringify([command, args])).not.toMatch(/MARK|password|CREATE (DATABASE|TABLE)/i);
      expect(env?.map(({ name }) => name)).not.toContain("SQL_SCRIPT");
    }
  });

  it("NACOS-449 takes from the wrapper where the pod runs and by what rights, and nothing else", () => {
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: {} };
    const placed = {
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "k", operator: "Exists" }],
      affinity: { nodeAffinity, podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } },
      imagePullSecrets: [{ name: "pull" }],
      securityContext: { runAsUser: 1000 },
      serviceAccountName: "sa",
      priorityClassName: "high",
    };
    const others = { containers: [{ name: "demo", env: [] }], volumes: [{ name: "v" }], hostNetwork: true };
    const pod = podOf({ database: withPassword(), k8sWrapper: { PodSpec: { ...placed, ...others } } });
    expect(pod).toMatchObject({ ...placed, affinity: { nodeAffinity } });
    expect(pod.affinity).not.toHaveProperty("podAntiAffinity");
    expect(pod).not.toHaveProperty("hostNetwork");
    expect(pod.containers.map(({ name }) => name)).toEqual(["mysql-sql-init"]);
    expect(pod.volumes?.map(({ name }) => name)).toEqual(["sql"]);
  });

  it("takes pull secrets and placement from the spec as well, the wrapper's first", () => {
    const spec = { imagePullSecrets: [{ name: "a" }], nodeSelector: { x: "1", y: "1" } };
    const wrapper = { imagePullSecrets: [{ name: "b" }], nodeSelector: { y: "2" } };
    expect(podOf({ database: withPassword(), ...spec })).toMatchObject(spec);
    expect(podOf({ database: withPassword(), ...spec, k8sWrapper: { PodSpec: wrapper } })).toMatchObject({
      imagePullSecrets: [{ name: "b" }],
      nodeSelector: { x: "1", y: "2" },
    });
  });

  it("NACOS-405 carries another address onto the peer's own check, and its password variable stays", () => {
    const { resource, statefulSet } = peerAdoptions().find(
      ({ name }) => name === "mysql with init container",
    )!;
    const none = { mode: "none" } as const;
    const adopted = updatedStatefulSet(settingsOf(resource), none, statefulSet).object;
    const moved = structuredClone(resource);
    Object.assign(moved.spec!.database!, { mysqlHost: "elsewhere", mysqlPassword: "other" });
    const { object } = updatedStatefulSet(settingsOf(moved), none, adopted);
    const [before] = statefulSet.spec.template.spec.initContainers!;
    const [after] = object.spec.template.spec.initContainers!;
    expect(after?.command).toEqual(before?.command);
    expect(envOf(after!)).toEqual([
      "MYSQL_HOST=elsewhere",
      "MYSQL_PORT=3307",
      "MYSQL_DB=nacosdb",
      "MYSQL_USER=nacos",
      "MYSQL_PASS=other",
    ]);
  });
});

describe("bundled SQL for MySQL", () => {
  it("NACOS-709 NACOS-707 only creates what is missing: no row, no change, no removal", () => {
    const statements = MYSQL_SCHEMA.split(/;\s*/).filter((statement) => statement.trim() !== "");
    expect(statements.length).toBeGreaterThan(12);
    for (const statement of statements) expect(statement).toMatch(/^CREATE TABLE IF NOT EXISTS `\w+` \(/);
    expect(MYSQL_SCHEMA).not.toMatch(/insert|update |delete|drop|alter|truncate|replace|\$2[aby]\$/i);
  });

  it("has every table of Nacos, whose keys fit into an index", () => {
    const names = [...MYSQL_SCHEMA.matchAll(/CREATE TABLE IF NOT EXISTS `(\w+)`/g)].map((match) => match[1]);
    expect(names).toEqual(
      expect.arrayContaining(
        "config_info config_info_aggr config_info_beta config_info_gray config_info_tag config_tags_relation group_capacity his_config_info permissions roles tenant_capacity tenant_info users".split(
          " ",
        ),
      ),
    );
    for (const table of MYSQL_SCHEMA.split("CREATE TABLE").slice(1)) {
      const width = new Map(
        [...table.matchAll(/^ {2}`(\w+)` (?:varchar|char)\((\d+)\)/gm)].map((m) => [m[1]!, Number(m[2]) * 4]),
      );
      for (const [, columns] of table.matchAll(/KEY (?:`\w+` )?\(([^)]*)\)/g)) {
        const bytes = columns!
          .split(", ")
          .map((column) => width.get(column.replaceAll("`", "")) ?? 8)
          .reduce((a, b) => a + b);
        // InnoDB's limit with 16 KiB pages.
        expect(bytes).toBeLessThanOrEqual(3072);
      }
    }
  });

  it("NACOS-708 a build without its schema does not start", () => {
    expect(() => bundledSql("MySQL schema", "")).toThrow("bundled SQL MySQL schema is empty");
    expect(MYSQL_SCHEMA).toBe(initOf({ database: withPassword() }).configMap.data?.SQL_SCRIPT);
  });

  it("NACOS-706 quotes every database name", () => {
    expect(createDatabaseStatement("na`cos; DROP DATABASE x")).toMatch(
      /^CREATE DATABASE IF NOT EXISTS `na``cos; DROP DATABASE x` DEFAULT/,
    );
  });
});
