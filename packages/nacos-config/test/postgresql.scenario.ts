/** Scenarios of PostgreSQL: the schema is initialised by the controller's own connection to a real server. */
import { type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { conditionOf, eventually, type Objects, objectsOf } from "./support/objects.ts";
import {
  createLogin,
  createSecret,
  encoded,
  type Installations,
  installationsOn,
  logins,
  tablesOf,
  V1_TABLES,
} from "./support/postgres.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

/** Limit for starting and stopping servers on a busy machine. */
const HOOK_LIMIT_MS = 120_000;
/** A pass looks at a database again when the last look is so old. */
const LOOK_MS = 5_000;

let plain: PostgresServer;
beforeAll(async () => {
  plain = await startPostgres();
}, HOOK_LIMIT_MS);
afterAll(() => plain?.close(), HOOK_LIMIT_MS);

let stage: Stage;
let objects: Objects;
let database: string;
let pg: Installations;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
  database = `db_${stage.namespace.replaceAll("-", "_")}`;
  await plain.createDatabase(database);
  pg = installationsOn(objects, plain, database);
}, HOOK_LIMIT_MS);
afterEach(() => stage.close());

const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const sentinel = (): Promise<string> => pg.sql("select version from nacos_schema_version order by 1");

describe("PostgreSQL", () => {
  it("nacos A20 NACOS-202 NACOS-721 NACOS-723: an empty database gets its tables; at rest nobody connects; its loss stops nothing", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await objects.configMap("uc", { "user.properties": "a=1\n" });
    const begin = Date.now();
    await pg.create({ userConfigRef: { name: "uc" } });
    const { status } = await pg.running();
    expect(await tablesOf(plain, database)).toEqual(V1_TABLES);
    expect(await sentinel()).toBe("1");
    expect(await pg.sql("select count(*) from users")).toBe("0");
    expect(status?.pg).toMatchObject({ initVersion: 1, lastMessage: "", observedGeneration: 1 });
    expect(Date.parse(status?.pg?.lastInitTime ?? "")).toBeGreaterThanOrEqual(begin - 1_000);
    expect(await pg.ready()).toMatchObject({ status: "True", reason: "Initialized" });
    await eventually(async () => {
      const reasons = (await objects.list("events")).map(({ reason }) => reason);
      // The image of the test is an official one, and too old for PostgreSQL.
      expect(reasons).toEqual(expect.arrayContaining(["DatabaseInitialized", "PluginImageRequired"]));
    });
    expect(await objects.list("jobs")).toEqual([]);

    // At rest nobody connects; a pass looks at the server, and a restart goes by the status.
    const connections = (): number => logins(plain, database).length;
    await eventually(async () => {
      const before = [manager.reconciles("demo"), connections()];
      // Longer than news of progress is collected, too.
      await quiet(LOOK_MS + 2_000);
      expect(conditionOf(await objects.get("nacos", "demo"), "Progressing").reason).toBe("RolloutComplete");
      expect([manager.reconciles("demo"), connections()]).toEqual(before);
    }, 60_000);
    const before = connections();
    const since = Date.now();
    await objects.patch("services", "demo-client", { metadata: { labels: { touched: "yes" } } });
    await eventually(async () => expect(connections()).toBe(before + 1));
    await manager.stop();
    const next = await stage.startManager(NO_CHECK);
    await eventually(async () => expect(next.reconciles("demo")).toBeGreaterThan(0));
    await quiet(1_000);
    expect(await stage.writes(since)).toEqual([]);
    expect(connections()).toBe(before + 1);

    // The database goes away: the next change of the configuration rolls all the same, and it is told of.
    await plain.stop();
    try {
      const { configDigest } = (await objects.get("nacos", "demo")).status!;
      await objects.patch("configmaps", "uc", { data: { "user.properties": "a=2\n" } });
      const down = await pg.failed("DatabaseUnreachable");
      expect(down.status?.pg).toMatchObject({ initialized: true, initVersion: 1, lastResult: "Failed" });
      await eventually(async () => {
        const resource = await objects.get("nacos", "demo");
        expect(resource.status?.configDigest).not.toBe(configDigest);
        expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
        expect(resource.status).toMatchObject({ phase: "Running", healthy: true });
        expect(resource.status?.event?.at(-1)).toMatchObject({
          code: 404,
          message: expect.stringContaining("no PostgreSQL server answers"),
        });
      }, 90_000);
      expect((await pg.ready()).status).toBe("False");
      expect((await objects.get("nacos", "demo")).metadata.generation).toBe(1);
      // Its tables are known to be there: a StatefulSet that somebody deletes is made again all the same.
      const { uid } = (await objects.get("statefulsets", "demo")).metadata;
      await objects.delete("statefulsets", "demo");
      await eventually(async () => {
        const again = await objects.find("statefulsets", "demo");
        expect(again?.metadata.uid).toBeDefined();
        expect(again?.metadata.uid).not.toBe(uid);
      }, 60_000);
    } finally {
      await plain.start();
    }
    // It is found again without any change.
    await pg.running();
  }, 300_000);

  it("NACOS-202 NACOS-711: no pods before the database is ready; a Secret that appears or changes is taken at once", async () => {
    await stage.startManager(NO_CHECK);
    await pg.create();
    const missing = await pg.failed("SecretNotFound");
    expect(missing.status?.event?.at(-1)).toMatchObject({ code: 404 });
    await createSecret(objects, "pg-login", { username: plain.user, password: "wrong" });
    const refused = await pg.failed("LoginRefused");
    expect(refused.status?.pg).toMatchObject({
      initialized: false,
      lastResult: "Failed",
      lastMessage: expect.stringContaining("SQLSTATE 28P01"),
    });
    expect(await objects.find("statefulsets", "demo")).toBeUndefined();
    // The peer's Services and configuration need no database.
    expect(await objects.find("services", "demo-client")).toBeDefined();
    await objects.patch("secrets", "pg-login", { data: { username: null } });
    expect((await pg.failed("KeyNotFound")).status?.event?.at(-1)).toMatchObject({ code: 301 });
    await objects.patch("secrets", "pg-login", encoded({ username: plain.user, password: plain.password }));
    await pg.running();
  });

  it("NACOS-710 names the field that is missing, and connects to nothing", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create({}, { database: "" });
    const resource = await pg.failed("PostgresConfigInvalid");
    expect(conditionOf(resource, "DatabaseReady").message).toContain("spec.postgres.database");
    expect(resource.status?.event?.at(-1)).toMatchObject({ code: 301 });
    await objects.patch("nacos", "demo", { spec: { postgres: { database } } });
    await pg.running();
  });

  it("NACOS-713 executes nothing on a server that is read-only", async () => {
    await plain.setReadOnly(true);
    try {
      await stage.startManager(NO_CHECK);
      await createLogin(objects, plain);
      await pg.create();
      const resource = await pg.failed("DatabaseReadOnly");
      expect(resource.status?.event?.at(-1)).toMatchObject({ code: 404 });
      expect(await tablesOf(plain, database)).toEqual([]);
    } finally {
      await plain.setReadOnly(false);
    }
    await pg.running();
  });

  it("NACOS-714 opens no connection when the initialisation is switched off", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create({ pgInit: { enabled: false } }, {}, "off");
    await pg.create({ pgInit: { policy: "Never" } }, {}, "never");
    for (const name of ["off", "never"]) {
      await eventually(async () => expect((await objects.get("nacos", name)).status?.phase).toBe("Running"));
      expect(await pg.ready(name)).toEqual({});
    }
    expect(logins(plain, database)).toEqual([]);
  });

  it("NACOS-715 NACOS-716 leaves a schema that is there already as it is", async () => {
    await pg.sql("create table config_info (id int); insert into config_info values (7)");
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create();
    const { status } = await pg.running(0);
    expect(status?.pg?.lastMessage).toBe("existing schema");
    expect(await pg.ready()).toMatchObject({ reason: "ExistingSchema" });
    expect(await tablesOf(plain, database)).toEqual(["config_info"]);
    expect(await pg.sql("select * from config_info")).toBe("7");
  });

  it("NACOS-717 NACOS-719 NACOS-720: BumpVersion adds what schema 2 has more, keeps the rows, and never goes back", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create();
    await pg.running();
    await pg.sql(`insert into config_info (data_id, content, src_ip) values ('kept', 'text', '10.0.0.1');
      insert into his_config_info (id, data_id, group_id, content) values (1, 'kept', 'g', 'text');
      insert into users values ('somebody', 'hash', true)`);
    const pgInit = { policy: "BumpVersion", schemaVersion: 2 };
    await objects.patch("nacos", "demo", { spec: { pgInit } });
    await pg.running(2);
    expect(await tablesOf(plain, database)).toEqual([...V1_TABLES, "config_info_gray"].sort());
    expect(await sentinel()).toBe("1\n2");
    expect(await pg.sql("select data_id, publish_type, gray_name, ext_info from his_config_info")).toBe(
      "kept|formal||",
    );
    expect(await pg.sql("select data_id, src_ip from config_info")).toBe("kept|10.0.0.1");
    expect(await pg.sql("select username from users")).toBe("somebody");
    await pg.sql(`update config_info set src_ip = repeat('f', 45)`);

    await objects.patch("nacos", "demo", { spec: { pgInit: { schemaVersion: 1 } } });
    const newer = await pg.failed("SchemaNewer");
    expect(newer.status?.pg).toMatchObject({ initialized: true, initVersion: 2, lastResult: "Failed" });
    expect(newer.status?.phase).toBe("Running");
    expect(await sentinel()).toBe("1\n2");
  });

  it("NACOS-717 NACOS-719: Always runs the script once for each generation, and on a whole schema it changes nothing", async () => {
    const schema = (): Promise<string> =>
      pg.sql(`select table_name, column_name, data_type, character_maximum_length, column_default, is_nullable
        from information_schema.columns where table_schema = 'public' order by 1, 2`);
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create({ pgInit: { policy: "Always", schemaVersion: 2 } });
    await pg.running(2);
    // Somebody has made a column wider than the script does.
    await pg.sql("alter table config_info alter column src_ip type varchar(200)");
    const whole = await schema();
    await pg.sql("drop table permissions");
    const { resourceVersion } = (await objects.get("secrets", "pg-login")).metadata;
    const reconciles = manager.reconciles("demo");
    await objects.patch("secrets", "pg-login", { metadata: { labels: { touched: "yes" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(reconciles));
    expect((await objects.get("secrets", "pg-login")).metadata.resourceVersion).not.toBe(resourceVersion);
    expect(await tablesOf(plain, database)).not.toContain("permissions");
    await objects.patch("nacos", "demo", { spec: { pgInit: { timeoutSeconds: 30 } } });
    await pg.observed();
    expect(await schema()).toBe(whole);
    await objects.patch("nacos", "demo", { spec: { pgInit: { timeoutSeconds: 31 } } });
    await pg.observed();
    expect(await schema()).toBe(whole);
  });

  it("NACOS-718: a script that fails leaves nothing, and what made it fail is told without the server's words", async () => {
    await pg.sql(`create function refuse() returns event_trigger language plpgsql as $$ begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.users') then
          raise exception 'marker-5c07';
        end if;
      end $$;
      create event trigger refuse on ddl_command_end execute function refuse()`);
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await pg.create();
    const resource = await pg.failed("StatementFailed");
    expect(resource.status?.pg?.lastMessage).toContain("SQLSTATE P0001");
    expect(await tablesOf(plain, database)).toEqual([]);
    const said = JSON.stringify([resource, await objects.list("events")]) + manager.log();
    expect(said).not.toContain("marker-5c07");
    await pg.sql("drop event trigger refuse");
    await pg.running();
  });

  it("NACOS-709 NACOS-715 NACOS-718: resources that share a database initialise it once, and bring no user back", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => pg.create({}, {}, name)));
    for (const name of names) await pg.running(1, name);
    expect(await sentinel()).toBe("1");
    await pg.sql("insert into users values ('renamed', 'hash', true)");
    await pg.create({}, {}, "late");
    await pg.running(1, "late");
    expect(await pg.sql("select username from users")).toBe("renamed");
    await eventually(async () => {
      const events = await objects.list("events");
      expect(events.filter(({ reason }) => reason === "DatabaseInitialized")).toHaveLength(1);
    });
  });
});
