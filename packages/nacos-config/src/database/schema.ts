/** The tables of Nacos, in the SQL of the package's folder `sql`; each file says what it holds. */
import { MYSQL, POSTGRESQL_1, POSTGRESQL_2 } from "./sql.gen.ts";

/** Creates the tables in MySQL. */
export const MYSQL_SCHEMA: string = bundledSql("MySQL schema", MYSQL);
/** The versions of the schema in PostgreSQL, version 1 first; each builds on those before it. */
export const POSTGRES_SCHEMAS: readonly string[] = [
  bundledSql("PostgreSQL schema 1", POSTGRESQL_1),
  bundledSql("PostgreSQL schema 2", POSTGRESQL_2),
];

/**
 * The text, when it holds a statement. It is called as modules load, so that a bundle that lost its SQL ends at the
 * start of the process and never reaches a database.
 * @throws when there are only blanks and comments
 */
export function bundledSql(name: string, text: string): string {
  const statements = text.replaceAll(/\/\*.*?\*\/|--[^\n]*/gs, "").trim();
  if (statements === "")
    throw new Error(`bundled SQL ${name} is empty: the program is broken, build it again`);
  return text;
}
