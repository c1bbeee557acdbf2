/** Scenarios of PostgreSQL: the schema is initialised by the controller's own connection to a real server. */
import { createServer, type Socket } from "node:net";
import { createAuthority, type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import type { JsonMap } from "../src/desired/k8s.ts";
import { conditionOf, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { createLogin, createSecret, encoded, logins, postgresOf, tablesOf } from "./support/postgres.ts";
import { openStage, type Stage } from "./support/stage.ts";

const NO_CHECK = { flags: { "nacos-skip-node-check": true } };
/** Limit for starting and stopping servers on a busy machine. */
const HOOK_LIMIT_MS = 120_000;
/** A pass looks at a database again when the last look is so old. */
const LOOK_MS = 5_000;
/** The tables of schema 1 and the sentinel. */
const V1_TABLES = [
  "config_info",
  "config_info_aggr",
  "config_info_beta",
  "config_info_tag",
  "config_tags_relation",
  "group_capacity",
  "his_config_info",
  "nacos_schema_version",
  "permissions",
  "roles",
  "tenant_capacity",
  "tenant_info",
  "users",
];

let plain: PostgresServer;
let secure: PostgresServer;
beforeAll(async () => {
  [plain, secure] = await Promise.all([startPostgres(), startPostgres({ tls: true })]);
}, HOOK_LIMIT_MS);
afterAll(async () => {
  await Promise.all([plain?.close(), secure?.close()]);
}, HOOK_LIMIT_MS);

let stage: Stage;
let objects: Objects;
let database: string;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
  database = `db_${stage.namespace.replaceAll("-", "_")}`;
  await plain.createDatabase(database);
}, HOOK_LIMIT_MS);
afterEach(() => stage.close());

const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const sql = (text: string): Promise<string> => plain.query(text, database);
const sentinel = (): Promise<string> => sql("select version from nacos_schema_version order by 1");
const ready = async (name = "demo") => conditionOf(await objects.get("nacos", name), "DatabaseReady");

/** A standalone installation on the database, with the credentials of the server's superuser. */
async function create(spec: JsonMap = {}, postgres: JsonMap = {}, name = "demo"): Promise<void> {
  const given = {
    database: { type: "postgresql" },
    postgres: postgresOf(plain, database, postgres),
    ...spec,
  };
  await objects.nacos(name, given);
}

/** Waits for the phase Running with a schema of a version. */
const running = (initVersion = 1, name = "demo"): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.pg).toMatchObject({ initialized: true, initVersion, lastResult: "Success" });
    expect(conditionOf(resource, "DatabaseReady").status).toBe("True");
    expect(resource.status?.phase).toBe("Running");
    return resource;
  }, 90_000);

/** Waits for DatabaseReady=False and returns the resource. */
const failed = (reason: string, name = "demo"): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(conditionOf(resource, "DatabaseReady")).toMatchObject({ status: "False", reason });
    return resource;
  }, 60_000);

/** Waits until the resource's present generation has been acted on. */
const observed = (name = "demo"): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.observedGeneration).toBe(resource.metadata.generation);
    expect(resource.status?.pg?.observedGeneration).toBe(resource.metadata.generation);
    return resource;
  }, 60_000);

describe("PostgreSQL", () => {
  it("nacos A20 NACOS-710 NACOS-721 NACOS-723: an empty database gets its tables; at rest nobody connects; its loss stops nothing", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await objects.configMap("uc", { "user.properties": "a=1\n" });
    const begin = Date.now();
    await create({ userConfigRef: { name: "uc" } });
    const { status } = await running();
    expect(await tablesOf(plain, database)).toEqual(V1_TABLES);
    expect(await sentinel()).toBe("1");
    expect(await sql("select count(*) from users")).toBe("0");
    expect(status?.pg).toMatchObject({ initVersion: 1, lastMessage: "", observedGeneration: 1 });
    expect(Date.parse(status?.pg?.lastInitTime ?? "")).toBeGreaterThanOrEqual(begin - 1_000);
    expect(await ready()).toMatchObject({ status: "True", reason: "Initialized" });
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
      await quiet(LOOK_MS + 1_000);
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
      const down = await failed("DatabaseUnreachable");
      expect(down.status?.pg).toMatchObject({ initialized: true, initVersion: 1, lastResult: "Failed" });
      await eventually(async () => {
        const resource = await objects.get("nacos", "demo");
        expect(resource.status?.configDigest).not.toBe(configDigest);
        expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
        expect(resource.status).toMatchObject({ phase: "Running", healthy: true });
        expect(resource.status?.event?.at(-1)).toMatchObject({
          code: 404,
          message: expect.stringContaining("ECONNREFUSED"),
        });
      }, 90_000);
      expect((await ready()).status).toBe("False");
      expect((await objects.get("nacos", "demo")).metadata.generation).toBe(1);
    } finally {
      await plain.start();
    }
    // It is found again without any change.
    await running();
  }, 300_000);

  it("NACOS-202 NACOS-711: no pods before the database is ready; a Secret that appears or changes is taken at once", async () => {
    await stage.startManager(NO_CHECK);
    await create();
    const missing = await failed("SecretNotFound");
    expect(missing.status?.event?.at(-1)).toMatchObject({ code: 404 });
    await createSecret(objects, "pg-login", { username: plain.user, password: "wrong" });
    const refused = await failed("LoginRefused");
    expect(refused.status?.pg).toMatchObject({
      initialized: false,
      lastResult: "Failed",
      lastMessage: expect.stringContaining("SQLSTATE 28P01"),
    });
    expect(await objects.find("statefulsets", "demo")).toBeUndefined();
    // The peer's Services and configuration need no database.
    expect(await objects.find("services", "demo-client")).toBeDefined();
    await objects.patch("secrets", "pg-login", { data: { username: null } });
    expect((await failed("KeyNotFound")).status?.event?.at(-1)).toMatchObject({ code: 301 });
    await objects.patch("secrets", "pg-login", encoded({ username: plain.user, password: plain.password }));
    await running();
  });

  it("NACOS-710 names the field that is missing, and connects to nothing", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create({}, { database: "" });
    const resource = await failed("PostgresConfigInvalid");
    expect(conditionOf(resource, "DatabaseReady").message).toContain("spec.postgres.database");
    expect(resource.status?.event?.at(-1)).toMatchObject({ code: 301 });
    await objects.patch("nacos", "demo", { spec: { postgres: { database } } });
    await running();
  });

  it("NACOS-713 executes nothing on a server that is read-only", async () => {
    await plain.setReadOnly(true);
    try {
      await stage.startManager(NO_CHECK);
      await createLogin(objects, plain);
      await create();
      const resource = await failed("DatabaseReadOnly");
      expect(resource.status?.event?.at(-1)).toMatchObject({ code: 404 });
      expect(await tablesOf(plain, database)).toEqual([]);
    } finally {
      await plain.setReadOnly(false);
    }
    await running();
  });

  it("NACOS-714 opens no connection when the initialisation is switched off", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create({ pgInit: { enabled: false } }, {}, "off");
    await create({ pgInit: { policy: "Never" } }, {}, "never");
    for (const name of ["off", "never"]) {
      await eventually(async () => expect((await objects.get("nacos", name)).status?.phase).toBe("Running"));
      expect(await ready(name)).toEqual({});
    }
    expect(logins(plain, database)).toEqual([]);
  });

  it("NACOS-715 NACOS-716 leaves a schema that is there already as it is", async () => {
    await sql("create table config_info (id int); insert into config_info values (7)");
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create();
    const { status } = await running(0);
    expect(status?.pg?.lastMessage).toBe("existing schema");
    expect(await ready()).toMatchObject({ reason: "ExistingSchema" });
    expect(await tablesOf(plain, database)).toEqual(["config_info"]);
    expect(await sql("select * from config_info")).toBe("7");
  });

  it("NACOS-717 NACOS-719 NACOS-720: BumpVersion adds what schema 2 has more, keeps the rows, and never goes back", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create();
    await running();
    await sql(`insert into config_info (data_id, content, src_ip) values ('kept', 'text', '10.0.0.1');
      insert into his_config_info (id, data_id, group_id, content) values (1, 'kept', 'g', 'text');
      insert into users values ('somebody', 'hash', true)`);
    const pgInit = { policy: "BumpVersion", schemaVersion: 2 };
    await objects.patch("nacos", "demo", { spec: { pgInit } });
    await running(2);
    expect(await tablesOf(plain, database)).toEqual([...V1_TABLES, "config_info_gray"].sort());
    expect(await sentinel()).toBe("1\n2");
    expect(await sql("select data_id, publish_type, gray_name, ext_info from his_config_info")).toBe(
      "kept|formal||",
    );
    expect(await sql("select data_id, src_ip from config_info")).toBe("kept|10.0.0.1");
    expect(await sql("select username from users")).toBe("somebody");
    await sql(`update config_info set src_ip = repeat('f', 45)`);

    await objects.patch("nacos", "demo", { spec: { pgInit: { schemaVersion: 1 } } });
    const newer = await failed("SchemaNewer");
    expect(newer.status?.pg).toMatchObject({ initialized: true, initVersion: 2, lastResult: "Failed" });
    expect(newer.status?.phase).toBe("Running");
    expect(await sentinel()).toBe("1\n2");
  });

  it("NACOS-717 NACOS-719: Always runs the script once for each generation, and on a whole schema it changes nothing", async () => {
    const schema = (): Promise<string> =>
      sql(`select table_name, column_name, data_type, character_maximum_length, column_default, is_nullable
        from information_schema.columns where table_schema = 'public' order by 1, 2`);
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create({ pgInit: { policy: "Always", schemaVersion: 2 } });
    await running(2);
    // Somebody has made a column wider than the script does.
    await sql("alter table config_info alter column src_ip type varchar(200)");
    const whole = await schema();
    await sql("drop table permissions");
    const { resourceVersion } = (await objects.get("secrets", "pg-login")).metadata;
    const reconciles = manager.reconciles("demo");
    await objects.patch("secrets", "pg-login", { metadata: { labels: { touched: "yes" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(reconciles));
    expect((await objects.get("secrets", "pg-login")).metadata.resourceVersion).not.toBe(resourceVersion);
    expect(await tablesOf(plain, database)).not.toContain("permissions");
    await objects.patch("nacos", "demo", { spec: { pgInit: { timeoutSeconds: 30 } } });
    await observed();
    expect(await schema()).toBe(whole);
    await objects.patch("nacos", "demo", { spec: { pgInit: { timeoutSeconds: 31 } } });
    await observed();
    expect(await schema()).toBe(whole);
  });

  it("NACOS-718: a script that fails leaves nothing, and what made it fail is told without the server's words", async () => {
    await sql(`create function refuse() returns event_trigger language plpgsql as $$ begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.users') then
          raise exception 'marker-5c07';
        end if;
      end $$;
      create event trigger refuse on ddl_command_end execute function refuse()`);
    const manager = await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    await create();
    const resource = await failed("StatementFailed");
    expect(resource.status?.pg?.lastMessage).toContain("SQLSTATE P0001");
    expect(await tablesOf(plain, database)).toEqual([]);
    const said = JSON.stringify([resource, await objects.list("events")]) + manager.log();
    expect(said).not.toContain("marker-5c07");
    await sql("drop event trigger refuse");
    await running();
  });

  it("NACOS-709 NACOS-715 NACOS-718: resources that share a database initialise it once, and bring no user back", async () => {
    await stage.startManager(NO_CHECK);
    await createLogin(objects, plain);
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => create({}, {}, name)));
    for (const name of names) await running(1, name);
    expect(await sentinel()).toBe("1");
    await sql("insert into users values ('renamed', 'hash', true)");
    await create({}, {}, "late");
    await running(1, "late");
    expect(await sql("select username from users")).toBe("renamed");
    await eventually(async () => {
      const events = await objects.list("events");
      expect(events.filter(({ reason }) => reason === "DatabaseInitialized")).toHaveLength(1);
    });
  });

  it("NACOS-722: a server that accepts and never answers costs no worker, and ends in a timeout", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      // Unread, it would not notice its end.
      socket.resume();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const port = String((silent.address() as { port: number }).port);
    try {
      await stage.startManager(NO_CHECK);
      await createLogin(objects, plain);
      // More than the controller has workers; one of them gives up early.
      for (const name of ["s1", "s2", "s3", "s4", "s5"]) {
        await create({ pgInit: { timeoutSeconds: 600 } }, { port }, name);
      }
      await create({ pgInit: { timeoutSeconds: 1 } }, { port }, "brief");
      await create();
      await running();
      const { status } = await failed("Timeout", "brief");
      expect(status?.pg?.lastMessage).toMatch(/^timeout/);
      expect(status?.event?.at(-1)).toMatchObject({ code: 404, message: expect.stringContaining("timeout") });
      await eventually(async () =>
        expect(await ready("s5")).toMatchObject({ status: "Unknown", reason: "Connecting" }),
      );
      // Connections end with their resources.
      for (const name of ["s1", "s2", "s3", "s4", "s5", "brief"]) await objects.delete("nacos", name);
      await eventually(async () => expect(sockets.every((socket) => socket.closed)).toBe(true));
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  it("CORE-241 NACOS-710 NACOS-801: a dry run touches no database, and plans nothing where a failure stands", async () => {
    const dry = { ...NO_CHECK, dryRun: true };
    await createLogin(objects, plain);
    const passwordHash = `$2a$10$${"x".repeat(53)}`;
    await createSecret(objects, "nacos-admin", { username: "ops", passwordHash });
    await create({ adminCredentialsSecretRef: { name: "nacos-admin" } });
    const planner = await stage.startManager(dry);
    await eventually(async () =>
      expect(planner.log()).toContain(`statefulsets.apps ${stage.namespace}/demo`),
    );
    await planner.stop();
    expect(logins(plain, database)).toEqual([]);
    expect(await tablesOf(plain, database)).toEqual([]);

    const worker = await stage.startManager(NO_CHECK);
    await running();
    await plain.setReadOnly(true);
    try {
      await objects.patch("secrets", "pg-login", { metadata: { labels: { touched: "yes" } } });
      await objects.patch("secrets", "nacos-admin", encoded({ username: "another" }));
      await failed("DatabaseReadOnly");
      await eventually(async () => {
        const resource = await objects.get("nacos", "demo");
        expect(conditionOf(resource, "AdminReady").reason).toBe("DatabaseReadOnly");
        expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
        expect(resource.status?.event?.at(-1)).toMatchObject({ code: 404 });
        const since = Date.now();
        await quiet(1_000);
        expect(await stage.writes(since)).toEqual([]);
      }, 60_000);
      await worker.stop();
      const [since, count] = [Date.now(), logins(plain, database).length];
      const again = await stage.startManager(dry);
      await eventually(async () => expect(again.reconciles("demo")).toBeGreaterThan(0));
      await quiet(1_000);
      expect(await stage.writes(since)).toEqual([]);
      expect(logins(plain, database)).toHaveLength(count);
    } finally {
      await plain.setReadOnly(false);
    }
  }, 120_000);

  it("NACOS-351 NACOS-712 NACOS-813: credentials of any text work, and appear nowhere", async () => {
    const marker = "marker-91be";
    const user = `u'%41"@${marker}/ ü`;
    const password = ` p%zz@:/'"\\${marker} `;
    const odd = `d %2F'"@/=${stage.namespace}`;
    await plain.createUser(user, password);
    await plain.createDatabase(odd);
    await plain.query(`grant create on schema public to "${user.replaceAll('"', '""')}"`, odd);
    const manager = await stage.startManager({ ...NO_CHECK, logLevel: "trace" });
    await createLogin(objects, { user, password });
    await create({}, { database: odd });
    await running();
    expect(await tablesOf(plain, odd)).toEqual(V1_TABLES);
    // And not when something is wrong either.
    await objects.patch("secrets", "pg-login", encoded({ password: `wrong ${marker}` }));
    const resource = await failed("LoginRefused");
    const { spec: _, ...rest } = resource;
    const said = [
      JSON.stringify([rest, await objects.list("events")]),
      manager.log(),
      await manager.metrics(),
    ];
    for (const text of said) expect(text).not.toContain(marker);
    expect(manager.log()).toContain("LoginRefused");
  });

  it("NACOS-724 encrypts where the server offers it, and verifies it by the CA of a Secret", async () => {
    await secure.createDatabase(database);
    await stage.startManager(NO_CHECK);
    await createLogin(objects, secure);
    await createSecret(objects, "pg-ca", { "ca.crt": secure.caPem });
    const postgres = postgresOf(secure, database);
    await objects.nacos("demo", { postgres });
    await running();
    await objects.patch("nacos", "demo", {
      spec: { postgres: { sslMode: "verify-full", caSecretRef: { name: "pg-ca" } } },
    });
    await observed();
    const over = logins(secure, database);
    expect(over.length).toBeGreaterThanOrEqual(2);
    for (const line of over) expect(line).toContain("SSL enabled");
    const another = await createAuthority("another");
    await objects.patch("secrets", "pg-ca", encoded({ "ca.crt": another.cert }));
    await failed("TlsFailed");
  });
});
