/** Scenarios of the connection to PostgreSQL: servers that hang, credentials, TLS, and plans that open none. */
import { createServer, type Socket } from "node:net";
import { createAuthority, type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { conditionOf, eventually, type Objects, objectsOf } from "./support/objects.ts";
import {
  createLogin,
  createSecret,
  encoded,
  type Installations,
  installationsOn,
  logins,
  postgresOf,
  tablesOf,
  V1_TABLES,
} from "./support/postgres.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

/** Limit for starting and stopping servers on a busy machine. */
const HOOK_LIMIT_MS = 120_000;

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

describe("connection to PostgreSQL", () => {
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
        await pg.create({ pgInit: { timeoutSeconds: 600 } }, { port }, name);
      }
      await pg.create({ pgInit: { timeoutSeconds: 1 } }, { port }, "brief");
      await pg.create();
      await pg.running();
      const { status } = await pg.failed("DatabaseUnreachable", "brief");
      expect(status?.pg?.lastMessage).toMatch(/^no PostgreSQL server answers at 127.0.0.1:/);
      expect(status?.event?.at(-1)).toMatchObject({
        code: 404,
        message: expect.stringContaining("no PostgreSQL server answers"),
      });
      await eventually(async () =>
        expect(await pg.ready("s5")).toMatchObject({ status: "Unknown", reason: "Connecting" }),
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
    await pg.create({ adminCredentialsSecretRef: { name: "nacos-admin" } });
    const planner = await stage.startManager(dry);
    await eventually(async () =>
      expect(planner.log()).toContain(`statefulsets.apps ${stage.namespace}/demo`),
    );
    await planner.stop();
    expect(logins(plain, database)).toEqual([]);
    expect(await tablesOf(plain, database)).toEqual([]);

    const worker = await stage.startManager(NO_CHECK);
    await pg.running();
    await plain.setReadOnly(true);
    try {
      await objects.patch("secrets", "pg-login", { metadata: { labels: { touched: "yes" } } });
      await objects.patch("secrets", "nacos-admin", encoded({ username: "another" }));
      await pg.failed("DatabaseReadOnly");
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
    await pg.create({}, { database: odd });
    await pg.running();
    expect(await tablesOf(plain, odd)).toEqual(V1_TABLES);
    // And not when something is wrong either.
    await objects.patch("secrets", "pg-login", encoded({ password: `wrong ${marker}` }));
    const resource = await pg.failed("LoginRefused");
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
    await pg.running();
    await objects.patch("nacos", "demo", {
      spec: { postgres: { sslMode: "verify-full", caSecretRef: { name: "pg-ca" } } },
    });
    await pg.observed();
    const over = logins(secure, database);
    expect(over.length).toBeGreaterThanOrEqual(2);
    for (const line of over) expect(line).toContain("SSL enabled");
    const another = await createAuthority("another");
    await objects.patch("secrets", "pg-ca", encoded({ "ca.crt": another.cert }));
    await pg.failed("TlsFailed");
  });
});
