/** Shorthand for scenarios with a PostgreSQL server. */

import type { JsonMap } from "@quartet/core/kinds";
import type { PostgresServer } from "@quartet/testing";
import { expect } from "vitest";
import type { Nacos } from "../../src/api.gen.ts";
import { conditionOf, eventually, type Objects } from "./objects.ts";

/** Limit for what may take a retry, which comes after a minute at the latest, and a rollout; in milliseconds. */
const RETRIES_LIMIT_MS = 90_000;
/** The tables of schema 1 and the sentinel. */
export const V1_TABLES: readonly string[] = [
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

/** A Secret; values are plain text here. */
export async function createSecret(
  objects: Objects,
  name: string,
  stringData: Record<string, string>,
): Promise<void> {
  await objects.create("secrets", name, { apiVersion: "v1", kind: "Secret", stringData });
}

/** The Secret `pg-login` with the superuser's credentials, or others. */
export function createLogin(
  objects: Objects,
  { user, password }: Pick<PostgresServer, "user" | "password">,
): Promise<void> {
  return createSecret(objects, "pg-login", { username: user, password });
}

/** `spec.postgres` for a database of the server, by the Secret `pg-login`. */
export function postgresOf({ host, port }: PostgresServer, database: string, more: JsonMap = {}): JsonMap {
  return { host, port: String(port), database, credentialsSecretRef: { name: "pg-login" }, ...more };
}

/** Logins of the controller to a database so far: one line of the server's log each. */
export function logins(server: PostgresServer, database: string): string[] {
  const marker = `database=${database} application_name=quartet`;
  return server
    .log()
    .split("\n")
    .filter((line) => line.includes("connection authorized") && line.includes(marker));
}

/** Names of the tables in a database, sorted. */
export async function tablesOf(server: PostgresServer, database: string): Promise<string[]> {
  const sql = "select tablename from pg_tables where schemaname = 'public' order by 1";
  const text = await server.query(sql, database);
  return text === "" ? [] : text.split("\n");
}

/** The Secret's text as the API server holds it. */
export function encoded(data: Record<string, string>): JsonMap {
  return {
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  };
}

/** Standalone installations on one database. */
export interface Installations {
  /** Creates one, with the credentials of the server's superuser. Its name is `demo` unless it is given. */
  create(spec?: JsonMap, postgres?: JsonMap, name?: string): Promise<void>;
  /** Waits for the phase Running with a schema of a version, 1 unless it is given. */
  running(initVersion?: number, name?: string): Promise<Nacos>;
  /** Waits for DatabaseReady=False. */
  failed(reason: string, name?: string): Promise<Nacos>;
  /** Waits until the resource's present generation has been acted on. */
  observed(name?: string): Promise<Nacos>;
  /** The condition DatabaseReady; empty when there is none. */
  ready(name?: string): Promise<ReturnType<typeof conditionOf>>;
  /** Runs SQL as superuser in the database. */
  sql(text: string): Promise<string>;
}

export function installationsOn(objects: Objects, server: PostgresServer, database: string): Installations {
  const once = (name: string, check: (resource: Nacos) => void): Promise<Nacos> =>
    eventually(async () => {
      const resource = await objects.get("nacos", name);
      check(resource);
      return resource;
    }, RETRIES_LIMIT_MS);
  return {
    create(spec = {}, postgres = {}, name = "demo") {
      const connection = postgresOf(server, database, postgres);
      return objects.nacos(name, { database: { type: "postgresql" }, postgres: connection, ...spec });
    },
    running: (initVersion = 1, name = "demo") =>
      once(name, (resource) => {
        const { pg, phase } = resource.status ?? {};
        expect(pg).toMatchObject({ initialized: true, initVersion, lastResult: "Success" });
        expect(conditionOf(resource, "DatabaseReady").status).toBe("True");
        expect(phase).toBe("Running");
      }),
    failed: (reason, name = "demo") =>
      once(name, (resource) =>
        expect(conditionOf(resource, "DatabaseReady")).toMatchObject({ status: "False", reason }),
      ),
    observed: (name = "demo") =>
      once(name, ({ metadata: { generation }, status }) => {
        expect(status?.observedGeneration).toBe(generation);
        expect(status?.pg?.observedGeneration).toBe(generation);
      }),
    ready: async (name = "demo") => conditionOf(await objects.get("nacos", name), "DatabaseReady"),
    sql: (text) => server.query(text, database),
  };
}
