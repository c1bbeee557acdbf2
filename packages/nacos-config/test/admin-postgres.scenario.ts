/** Scenarios of the administrator in a real PostgreSQL database. */

import type { JsonMap } from "@quartet/core/kinds";
import { type PostgresServer, startPostgres } from "@quartet/testing";
import type { TestManager } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { conditionOf, eventually, type Objects, objectsOf, type Resource } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

/** The hash that Nacos's own scripts give to its default user. */
const PUBLIC_HASH = "$2a$10$EuWPZHzz32dJN7jexM34MOeYirDdFAZm2kuWj7VEOJhhZkDrxfvUu";
const TABLES = `
  create table users (username varchar(50) primary key, password varchar(500) not null, enabled boolean not null);
  create table roles (username varchar(50) not null, role varchar(50) not null, unique (username, role));`;
/** Limit for what takes retries. */
const LONG_MS = 60_000;
/** Time in which nothing must happen. */
const REST_MS = 1_500;

/** A bcrypt hash to look at, told apart by its last characters. */
const hash = (end: string, head = "$2a$10$"): string =>
  head + `MARK8e1${"x".repeat(46)}`.slice(0, 53 - end.length) + end;
const FIRST = hash("1st");
const SECOND = hash("2nd");

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 120_000);
afterAll(() => server?.close());

let stage: Stage;
let objects: Objects;
let database: string;
let tests = 0;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
  tests += 1;
  database = `nacos_${tests}`;
  await server.createDatabase(database);
  await createSecret("pg-login", { username: server.user, password: server.password });
});
afterEach(async () => {
  // Disconnects nobody: at rest there is no connection to be in the way.
  await stage.close();
});

function encode(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]));
}
function createSecret(name: string, data: Record<string, string>): Promise<void> {
  return objects.create("secrets", name, { apiVersion: "v1", kind: "Secret", data: encode(data) });
}
const admin = (username: string, passwordHash: string): Promise<void> =>
  createSecret("nacos-admin", { username, passwordHash });
const change = (data: Record<string, string>): Promise<void> =>
  objects.patch("secrets", "nacos-admin", { data: encode(data) });
const create = (spec: JsonMap = {}): Promise<void> =>
  objects.nacos("demo", {
    database: { type: "postgresql" },
    postgres: {
      host: server.host,
      port: String(server.port),
      database,
      credentialsSecretRef: { name: "pg-login" },
      sslMode: "disable",
    },
    adminCredentialsSecretRef: { name: "nacos-admin" },
    ...spec,
  });

const demo = (): Promise<Nacos> => objects.get("nacos", "demo");
const sql = (text: string): Promise<string> => server.query(text, database);
const users = (): Promise<string> => sql("select username, password, enabled from users order by username");
const roles = (): Promise<string> => sql("select username, role from roles order by username");
const reaches = (state: JsonMap): Promise<Nacos> =>
  eventually(async () => {
    const resource = await demo();
    expect(conditionOf(resource, "AdminReady")).toMatchObject(state);
    return resource;
  }, LONG_MS);
/** Waits until the list of events ends with this, which the nodes' own troubles come before. */
const tells = (code: number, reason: string): Promise<void> =>
  eventually(async () => {
    const message: string = expect.stringContaining(reason);
    expect((await demo()).status?.event?.at(-1)).toMatchObject({ code, message });
  }, LONG_MS);
/** Waits until nothing is under way any more. */
const settled = (): Promise<Nacos> =>
  eventually(async () => {
    const resource = await demo();
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
    return resource;
  }, LONG_MS);
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, REST_MS));
/** Logins of the operator to the test's database so far. */
const logins = (): number =>
  server
    .log()
    .split("\n")
    .filter((line) => line.includes(`database=${database} `) && line.includes("application_name=quartet"))
    .length;
const eventsOf = async (reason: string): Promise<string[]> =>
  (await objects.list("events")).filter((event) => event.reason === reason).map(({ note }) => note);

/** Neither hash nor password stands in anything that the controller has put out. */
async function expectSilence(manager: TestManager): Promise<void> {
  const kinds: Resource[] = ["nacos", "events", "statefulsets", "configmaps", "services", "pods"];
  const all = await Promise.all(kinds.map((kind) => objects.list(kind)));
  for (const text of [JSON.stringify(all), manager.log(), await manager.metrics()]) {
    for (const value of ["MARK8e1", server.password, PUBLIC_HASH.slice(7)]) {
      expect(text).not.toContain(value);
      expect(text).not.toContain(btoa(value));
    }
  }
}

describe("administrator in PostgreSQL", () => {
  it("nacos A20 NACOS-801 NACOS-802 NACOS-804: writes one user with its role, again for another hash, not for a label", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await admin("ops", FIRST);
    await create();
    const { status } = await reaches({ status: "True", reason: "Rotated" });
    expect(await users()).toBe(`ops|${FIRST}|t`);
    expect(await roles()).toBe("ops|ROLE_ADMIN");
    const { metadata } = await objects.get("secrets", "nacos-admin");
    expect(status?.admin).toEqual({
      lastRotateTime: expect.stringMatching(/^\d{4}-.*Z$/),
      lastResult: "Success",
      lastMessage: "",
      lastSecretResourceVersion: metadata.resourceVersion,
      lastSecretChecksum: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    await settled();
    await quiet();

    // A rotation would enable the user.
    await sql("update users set enabled = false");
    const since = Date.now();
    const reconciles = manager.reconciles("demo");
    await objects.patch("secrets", "nacos-admin", { metadata: { labels: { team: "x" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(reconciles));
    await quiet();
    expect(await users()).toBe(`ops|${FIRST}|f`);
    expect(await stage.writes(since)).toEqual([]);
    expect((await demo()).status?.admin).toEqual(status?.admin);

    await change({ passwordHash: SECOND });
    await eventually(async () => expect(await users()).toBe(`ops|${SECOND}|t`));
    expect(await roles()).toBe("ops|ROLE_ADMIN");
    await eventually(async () => {
      const { admin: after } = (await demo()).status ?? {};
      expect(after?.lastSecretChecksum).not.toBe(status?.admin?.lastSecretChecksum);
      expect(after?.lastResult).toBe("Success");
    });
    await expectSilence(manager);
  });

  it("NACOS-809 NACOS-810 NACOS-811: another name makes another user, a deleted Secret changes nothing, and it comes back by watch", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await admin("ops", FIRST);
    await create({ certification: { enabled: true, token_expire_seconds: "7200" } });
    await reaches({ status: "True" });
    await eventually(async () =>
      expect(await eventsOf("AdminRotated")).toEqual([expect.stringMatching(/15 s more.*7200 s/)]),
    );
    await change({ username: "root", passwordHash: SECOND });
    await eventually(async () => expect(await users()).toBe(`ops|${FIRST}|t\nroot|${SECOND}|t`));
    expect(await roles()).toBe("ops|ROLE_ADMIN\nroot|ROLE_ADMIN");
    await eventually(async () =>
      expect(await eventsOf("OtherAdminsRemain")).toEqual([expect.stringContaining("1 other user keeps")]),
    );
    await objects.delete("secrets", "nacos-admin");
    const { status } = await reaches({ status: "False", reason: "SecretNotFound" });
    expect(status?.phase).not.toBe("Failed");
    expect(await users()).toBe(`ops|${FIRST}|t\nroot|${SECOND}|t`);
    await admin("root", FIRST);
    await eventually(async () => expect(await users()).toBe(`ops|${FIRST}|t\nroot|${FIRST}|t`));
    await reaches({ status: "True" });
    await expectSilence(manager);
  });

  it("NACOS-803 NACOS-813: a Secret that is no login leaves the database untouched, and is not quoted", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await sql(TABLES);
    await admin("ops", "MARK8e1-in-plain-text");
    await create();
    const { status } = await reaches({
      status: "False",
      reason: "AdminSecretInvalid",
      message: expect.stringContaining("passwordHash"),
    });
    expect(status?.admin).toBeUndefined();
    await tells(301, "AdminSecretInvalid");
    await quiet();
    expect(await users()).toBe("");
    await change({ username: "x".repeat(51), passwordHash: FIRST });
    await reaches({ message: expect.stringContaining("50 characters") });
    expect(await users()).toBe("");
    await change({ username: "ops", passwordHash: hash("c", "$2y$04$") });
    await reaches({ status: "True" });
    await eventually(async () => expect(await eventsOf("WeakPasswordHash")).toHaveLength(1));
    await expectSilence(manager);
  });

  it("NACOS-804: missing tables are told of, nothing is half written, and the rotation follows by itself", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await admin("ops", FIRST);
    // Without `roles` the user must not be written either.
    await sql(TABLES.split(";")[0]!);
    await create({ pgInit: { policy: "Never" } });
    const { status } = await reaches({ status: "False", reason: "SchemaMissing" });
    expect(status?.admin).toMatchObject({
      lastResult: "Failed",
      lastMessage: expect.stringContaining("42P01"),
    });
    expect(status?.admin?.lastSecretChecksum).toBeUndefined();
    await tells(404, "SchemaMissing");
    expect((await demo()).status?.phase).toBe("Running");
    expect(await users()).toBe("");
    await sql(TABLES.split(";")[1]!);
    await reaches({ status: "True" });
    expect(await users()).toBe(`ops|${FIRST}|t`);
    expect((await demo()).status?.admin).toMatchObject({ lastResult: "Success", lastMessage: "" });
    await expectSilence(manager);
  });

  it("NACOS-808: tells of Nacos's public password, changes no user but its own, and looks again", async () => {
    const first = await stage.startManager(NO_CHECK);
    await sql(`${TABLES} insert into users values ('nacos', '${PUBLIC_HASH}', true)`);
    await admin("ops", FIRST);
    await create({ pgInit: { enabled: false } });
    const { status } = await reaches({ status: "False", reason: "DefaultAdminPassword" });
    expect(status?.admin?.lastResult).toBe("Success");
    expect(await users()).toBe(`nacos|${PUBLIC_HASH}|t\nops|${FIRST}|t`);
    await eventually(async () => expect(await eventsOf("DefaultAdminPassword")).toHaveLength(1));
    await eventually(async () => expect((await demo()).status?.phase).toBe("Running"), LONG_MS);
    await expectSilence(first);
    await first.stop();
    await sql("delete from users where username = 'nacos'");
    const second = await stage.startManager(NO_CHECK);
    await reaches({ status: "True", reason: "Rotated" });
    expect((await demo()).status?.admin).toEqual(status?.admin);
    await expectSilence(second);
  });

  it("NACOS-802: with a checksum in the spec, that alone says when", async () => {
    await stage.startManager(NO_CHECK);
    await admin("ops", FIRST);
    await create({ adminSecretChecksum: "v1" });
    const { status } = await reaches({ status: "True" });
    expect(status?.admin?.lastSecretChecksum).toBe("v1");
    await change({ passwordHash: SECOND });
    await quiet();
    expect(await users()).toBe(`ops|${FIRST}|t`);
    await objects.patch("nacos", "demo", { spec: { adminSecretChecksum: "v2" } });
    await eventually(async () => expect(await users()).toBe(`ops|${SECOND}|t`));
    await eventually(async () => expect((await demo()).status?.admin?.lastSecretChecksum).toBe("v2"));
  });

  it("NACOS-804 NACOS-211: a stopped database delays the rotation and nothing else; a restart at rest connects nowhere", {
    timeout: 180_000,
  }, async () => {
    const first = await stage.startManager(NO_CHECK);
    await admin("ops", FIRST);
    await create();
    await reaches({ status: "True" });
    await eventually(async () => expect((await demo()).status?.phase).toBe("Running"), LONG_MS);
    await server.stop();
    try {
      await change({ passwordHash: SECOND });
      const { status } = await reaches({ status: "False", reason: "DatabaseUnreachable" });
      expect(status?.admin).toMatchObject({ lastResult: "Failed" });
      expect(status?.phase).toBe("Running");
      await objects.patch("nacos", "demo", { spec: { env: [{ name: "X", value: "1" }] } });
      await eventually(async () => {
        const { template } = (await objects.get("statefulsets", "demo")).spec;
        expect(template.spec.containers[0]?.env).toContainEqual({ name: "X", value: "1" });
      });
    } finally {
      await server.start();
    }
    await reaches({ status: "True" });
    expect(await users()).toBe(`ops|${SECOND}|t`);
    const { status: after } = await settled();
    expect(after?.operatorConditions).toContainEqual(
      expect.objectContaining({ type: "DatabaseReady", status: "True" }),
    );
    await expectSilence(first);
    await first.stop();
    const before = logins();
    expect(before).toBeGreaterThan(0);
    const since = Date.now();
    await stage.startManager(NO_CHECK);
    await quiet();
    await quiet();
    expect(logins()).toBe(before);
    expect(await stage.writes(since)).toEqual([]);
  });
});
