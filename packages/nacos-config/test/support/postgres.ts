/** Shorthand for scenarios with a PostgreSQL server. */
import type { PostgresServer } from "@quartet/testing";
import type { JsonMap } from "../../src/desired/k8s.ts";
import type { Objects } from "./objects.ts";

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
