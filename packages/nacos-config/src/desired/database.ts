/** Where the nodes keep their data. */
import type { EnvVar } from "./k8s.ts";
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

function mysqlEnv({ database = {} }: NacosSpec): EnvVar[] {
  const { credentialsSecretRef: ref } = database;
  const secret = (key: string): Pick<EnvVar, "valueFrom"> => ({
    valueFrom: { secretKeyRef: { name: ref?.name, key } },
  });
  const user = ref?.name
    ? secret(ref.usernameKey || DEFAULT_USERNAME_KEY)
    : { value: database.mysqlUser || MYSQL_DEFAULTS.user };
  const password = ref?.name
    ? secret(ref.passwordKey || DEFAULT_PASSWORD_KEY)
    : database.mysqlPassword && { value: database.mysqlPassword };
  return [
    { name: "SPRING_DATASOURCE_PLATFORM", value: "mysql" },
    { name: "MYSQL_SERVICE_HOST", value: database.mysqlHost || MYSQL_DEFAULTS.host },
    { name: "MYSQL_SERVICE_PORT", value: database.mysqlPort || MYSQL_DEFAULTS.port },
    { name: "MYSQL_SERVICE_DB_NAME", value: database.mysqlDb || MYSQL_DEFAULTS.database },
    { name: "MYSQL_SERVICE_USER", ...user },
    ...(password ? [{ name: "MYSQL_SERVICE_PASSWORD", ...password }] : []),
  ];
}
