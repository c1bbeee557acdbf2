/** The initialisation against a real PostgreSQL server: where tables go, and who may make them. */
import { type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { databaseLimits, withDatabase } from "./connection.ts";
import { hostRules } from "./hosts.ts";
import { type InitResult, initializeSchema } from "./init.ts";
import type { SchemaRequest } from "./plan.ts";

const LIMITS = databaseLimits(hostRules("127.0.0.1,localhost"));
const NEVER = new AbortController().signal;

let server: PostgresServer;
let database: string;
let count = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  count += 1;
  database = `init_${count}`;
  await server.createDatabase(database);
});

const sql = (text: string): Promise<string> => server.query(text, database);
const tables = (): Promise<string> =>
  sql("select schemaname || '.' || tablename from pg_tables where schemaname ~ '^(public|app)$' order by 1");

function initialize(request: SchemaRequest, login: Partial<PostgresServer> = {}): Promise<InitResult> {
  const { host, port, user, password } = { ...server, ...login };
  const target = { host, port, user, password, database, sslMode: "disable", timeoutMs: 20_000 } as const;
  return withDatabase(target, LIMITS, NEVER, (connection) => initializeSchema(connection, request));
}

describe("initialisation", () => {
  it("NACOS-715 adds to the schema that holds the tables, wherever it stands in the search path", async () => {
    await sql(`create schema app; alter database ${database} set search_path = app`);
    await initialize({ policy: "IfNotPresent", version: 1 });
    await sql(`alter database ${database} set search_path = public, app`);
    const before = await tables();
    expect(before).not.toContain("public.");
    expect(await initialize({ policy: "BumpVersion", version: 2 })).toEqual({ version: 2, ran: true });
    expect(await tables()).toContain("app.config_info_gray");
    expect(await tables()).not.toContain("public.");
  });

  it("NACOS-720 has one outcome for a database that began with schema 1 and for one that began with 2", async () => {
    const columns = (): Promise<string> =>
      sql(`select table_name, column_name, data_type, character_maximum_length, column_default, is_nullable
        from information_schema.columns where table_schema = 'public' order by 1, 2`);
    await initialize({ policy: "IfNotPresent", version: 1 });
    expect(await columns()).toContain("config_info|src_ip|character varying|20|");
    await initialize({ policy: "BumpVersion", version: 2 });
    const stepwise = await columns();
    expect(stepwise).toContain("config_info|src_ip|character varying|50|");
    await server.createDatabase("at_once");
    database = "at_once";
    await initialize({ policy: "IfNotPresent", version: 2 });
    expect(await columns()).toBe(stepwise);
  });

  it("NACOS-718 NACOS-721 tells of a right that is missing, and works with the right to create alone", async () => {
    const login = { user: "plain user", password: "secret" };
    await server.createUser(login.user, login.password);
    await sql("revoke create on schema public from public");
    const request = { policy: "IfNotPresent", version: 2 } as const;
    const refused = initialize(request, login);
    await expect(refused).rejects.toMatchObject({ reason: "PermissionDenied", sqlState: "42501" });
    expect(await tables()).toBe("");
    await sql(`grant create on schema public to "${login.user}"`);
    expect(await initialize(request, login)).toEqual({ version: 2, ran: true });
    expect(await initialize(request, login)).toEqual({ version: 2, ran: false });
  });

  it("NACOS-713 executes nothing on a standby, and says which server the spec must name", async () => {
    const request = { policy: "Always", version: 1 } as const;
    await server.setStandby(true);
    try {
      await expect(initialize(request)).rejects.toMatchObject({
        reason: "DatabaseReadOnly",
        message: expect.stringMatching(/standby.*spec.postgres.host must name the primary/),
      });
      expect(await tables()).toBe("");
    } finally {
      await server.setStandby(false);
    }
    expect(await initialize(request)).toEqual({ version: 1, ran: true });
  });

  it("NACOS-718 takes turns: twenty at once run the script once", async () => {
    const request = { policy: "IfNotPresent", version: 1 } as const;
    const results = await Promise.all(Array.from({ length: 20 }, () => initialize(request)));
    expect(results.filter(({ ran }) => ran)).toHaveLength(1);
    expect(results.every(({ version }) => version === 1)).toBe(true);
  });
});
