/** Where the nodes keep their data. */
import type { EnvVar } from "@quartet/core/kinds";
import { type EnvSource, fromSecret } from "./env.ts";
import type { NacosSpec } from "./settings.ts";

/** Defaults of the peer for `database.type: mysql`. */
const MYSQL_DEFAULTS = { host: "127.0.0.1", port: "3306", database: "nacos", user: "root" } as const;
/** Keys of a credentials Secret (as in the peer). */
const DEFAULT_USERNAME_KEY = "username";
const DEFAULT_PASSWORD_KEY = "password";

export type DatabaseKind = "embedded" | "mysql" | "postgresql" | "other";

/** Kind of database by `database.type`; absent and empty mean embedded. */
export function databaseKind(spec: NacosSpec): DatabaseKind {
  const type = spec.database?.type || "embedded";
  if (type === "embedded" || type === "mysql") return type;
  return ["postgresql", "postgres", "pg"].includes(type) ? "postgresql" : "other";
}

/** Environment that tells Nacos about its database. PostgreSQL is configured by properties; only its kind is set. */
export function databaseEnv(spec: NacosSpec): EnvVar[] {
  switch (databaseKind(spec)) {
    case "embedded":
      return [{ name: "EMBEDDED_STORAGE", value: "embedded" }];
    case "mysql":
      return mysqlEnv(spec);
    case "postgresql":
      return [{ name: "SPRING_DATASOURCE_PLATFORM", value: "postgresql" }];
    case "other":
      return [];
  }
}

function mysqlEnv(spec: NacosSpec): EnvVar[] {
  const { host, port, database, user, password } = mysqlConnection(spec);
  return [
    { name: "SPRING_DATASOURCE_PLATFORM", value: "mysql" },
    { name: "MYSQL_SERVICE_HOST", value: host },
    { name: "MYSQL_SERVICE_PORT", value: port },
    { name: "MYSQL_SERVICE_DB_NAME", value: database },
    { name: "MYSQL_SERVICE_USER", ...user },
    ...(password === undefined ? [] : [{ name: "MYSQL_SERVICE_PASSWORD", ...password }]),
  ];
}

/** True when the resource asks for the initialisation. */
export function wantsMysqlInit(spec: NacosSpec): boolean {
  return databaseKind(spec) === "mysql" && Boolean(spec.mysqlInitImage);
}

/** How the MySQL database is reached. */
export interface MysqlConnection {
  readonly host: string;
  readonly port: string;
  readonly database: string;
  readonly user: EnvSource;
  /** Absent when the resource gives none: the peer's well-known password is nobody's default here. */
  readonly password?: EnvSource;
}

/** The connection of `database.type: mysql` with its defaults. */
export function mysqlConnection({ database = {} }: NacosSpec): MysqlConnection {
  const { credentialsSecretRef: ref, mysqlHost, mysqlPort, mysqlDb, mysqlUser, mysqlPassword } = database;
  const connection = {
    host: mysqlHost || MYSQL_DEFAULTS.host,
    port: mysqlPort || MYSQL_DEFAULTS.port,
    database: mysqlDb || MYSQL_DEFAULTS.database,
  };
  if (ref?.name) {
    return {
      ...connection,
      user: fromSecret(ref.name, ref.usernameKey || DEFAULT_USERNAME_KEY),
      password: fromSecret(ref.name, ref.passwordKey || DEFAULT_PASSWORD_KEY),
    };
  }
  const user = { value: mysqlUser || MYSQL_DEFAULTS.user };
  return { ...connection, user, ...(mysqlPassword && { password: { value: mysqlPassword } }) };
}
