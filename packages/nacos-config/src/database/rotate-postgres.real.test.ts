/** Rotation against a real PostgreSQL server. */
import { type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AdminCredentials } from "../desired/admin.ts";
import { databaseLimits, withDatabase } from "./connection.ts";
import { hostRules } from "./hosts.ts";
import { type AdminFindings, inspectAdmins, rotateAdmin } from "./rotate.ts";
import { POSTGRES_SCHEMAS } from "./schema.ts";
import type { PostgresTarget } from "./target.ts";

const LIMITS = databaseLimits(hostRules("127.0.0.1,localhost"));
const NEVER = new AbortController().signal;
const ODD_NAME = `o'p"s %41$1;--ü`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

let database = "";
let databases = 0;
beforeEach(async () => {
  databases += 1;
  database = `d${databases}`;
  await server.createDatabase(database);
  await server.query(POSTGRES_SCHEMAS[0]!, database);
});

const target = (): PostgresTarget => {
  const { host, port, user, password } = server;
  return { host, port, user, password, database, sslMode: "disable", timeoutMs: 20_000 };
};
const admin = (username: string, passwordHash: string): AdminCredentials => ({
  username,
  passwordHash,
  resourceVersion: "1",
  checksum: "",
  weak: false,
});
const rotate = (username: string, hash: string): Promise<AdminFindings> =>
  withDatabase(target(), LIMITS, NEVER, (db) => rotateAdmin(db, admin(username, hash)));
const users = (): Promise<string> =>
  server.query("select username, password, enabled from users order by 1", database);
const roles = (): Promise<string> => server.query("select username, role from roles order by 1, 2", database);

describe("rotation in a database", () => {
  it("NACOS-804 writes the user, enables it again, and gives it the role once beside those it has", async () => {
    await rotate(ODD_NAME, "h1");
    expect(await users()).toBe(`${ODD_NAME}|h1|t`);
    const quoted = `'${ODD_NAME.replaceAll("'", "''")}'`;
    await server.query(
      `update users set enabled = false; insert into roles values (${quoted}, 'dev')`,
      database,
    );
    await rotate(ODD_NAME, "h2");
    expect(await users()).toBe(`${ODD_NAME}|h2|t`);
    expect(await roles()).toBe(`${ODD_NAME}|ROLE_ADMIN\n${ODD_NAME}|dev`);
  });

  it("NACOS-804 NACOS-811 several at a time take turns, and none touches another's user", async () => {
    await server.query("insert into users values ('other', 'o', false)", database);
    const hashes = ["a", "b", "c", "d", "e", "f"];
    await Promise.all(hashes.map((hash) => rotate("ops", hash)));
    expect(await users()).toMatch(/^ops\|[a-f]\|t\nother\|o\|f$|^other\|o\|f\nops\|[a-f]\|t$/);
    expect(await roles()).toBe("ops|ROLE_ADMIN");
  });

  it("NACOS-808 NACOS-811 looks at the others: the public password, and who else has the role", async () => {
    await server.query(
      `insert into users values ('nacos', '$2a$10$EuWPZHzz32dJN7jexM34MOeYirDdFAZm2kuWj7VEOJhhZkDrxfvUu', true);
       insert into roles values ('nacos', 'ROLE_ADMIN'), ('x', 'ROLE_ADMIN'), ('y', 'dev')`,
      database,
    );
    expect(await rotate("ops", "h")).toEqual({ defaultPassword: true, otherAdmins: 2 });
    await server.query("update users set password = 'other' where username = 'nacos'", database);
    const look = () => withDatabase(target(), LIMITS, NEVER, (db) => inspectAdmins(db, "ops"));
    expect(await look()).toEqual({ defaultPassword: false, otherAdmins: 2 });
  });

  it("NACOS-804 a failure on the way leaves everything as it was", async () => {
    await server.query("drop table roles", database);
    await expect(rotate("ops", "h")).rejects.toMatchObject({ reason: "SchemaMissing", sqlState: "42P01" });
    expect(await users()).toBe("");
  });

  it("NACOS-813 NACOS-721 a server that quotes name and hash in its errors is not quoted", async () => {
    const causes = [
      `create function quote() returns trigger language plpgsql as $$ begin
         raise exception 'refused: %', new.password using detail = new.username, hint = new.password;
       end $$;
       create trigger quote before insert on users for each row execute function quote()`,
      "drop trigger quote on users; alter table users add check (password = 'other')",
    ];
    for (const cause of causes) {
      await server.query(cause, database);
      const error: unknown = await rotate("marker-2f7c", "marker-2f7c").catch((e) => e);
      expect(error).toMatchObject({ reason: "StatementFailed" });
      expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain("marker-2f7c");
      expect((error as Error).cause).toBeUndefined();
    }
  });

  it("NACOS-713 a read-only server is told by its name", async () => {
    await server.setReadOnly(true);
    try {
      await expect(rotate("ops", "h")).rejects.toMatchObject({ reason: "DatabaseReadOnly" });
    } finally {
      await server.setReadOnly(false);
    }
  });
});
