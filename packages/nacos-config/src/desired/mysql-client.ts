/** How containers call the MySQL client, and the container by which the nodes wait for their database. */

import type { Container, EnvVar } from "@quartet/core/kinds";
import { type MysqlConnection, mysqlConnection, wantsMysqlInit } from "./database.ts";
import type { EnvSource } from "./env.ts";
import { PEER_REVISION, type TemplateRevision } from "./revision.ts";
import type { Settings } from "./settings.ts";

/** Init container of the nodes (as in the peer). */
const CHECK_CONTAINER = "mysql-check-database";
/** Variable that MySQL's programs take the password from, and the one of the peer's containers. */
export const PASSWORD_VARIABLE = "MYSQL_PWD";
const PEER_PASSWORD_VARIABLE = "MYSQL_PASS";

/** Arguments of every call. TCP, since `localhost` would otherwise mean a socket file. */
export const MYSQL_ARGUMENTS: string =
  '--host="$MYSQL_HOST" --port="$MYSQL_PORT" --protocol=tcp --user="$MYSQL_USER" --connect-timeout=5';
/** The client, with everything but the database. */
export const MYSQL_COMMAND: string = `mysql ${MYSQL_ARGUMENTS} --default-character-set=utf8mb4`;

/** The table is one that every version of Nacos has. */
const CHECK_SCRIPT = `until ${MYSQL_COMMAND} --database="$MYSQL_DB" --execute='SELECT 1 FROM config_info LIMIT 1' >/dev/null; do sleep 2; done`;

/** Init containers of the nodes: one that waits until the schema is there. */
export function mysqlCheckContainers({ spec }: Settings, revision: TemplateRevision): Container[] {
  if (!wantsMysqlInit(spec)) return [];
  const peers = revision === PEER_REVISION;
  // The peer's command reads its own variable, and the peer's StatefulSets keep that command.
  const variable = peers ? PEER_PASSWORD_VARIABLE : PASSWORD_VARIABLE;
  const script = peers
    ? `export ${PASSWORD_VARIABLE}="$${PEER_PASSWORD_VARIABLE}"; ${CHECK_SCRIPT}`
    : CHECK_SCRIPT;
  return [
    {
      name: CHECK_CONTAINER,
      image: spec.mysqlInitImage!,
      command: ["/bin/sh", "-c", script],
      env: connectionEnv(mysqlConnection(spec), variable),
    },
  ];
}

/** Variables that the calls read. */
export function connectionEnv(
  { host, port, database, user, password }: MysqlConnection,
  passwordVariable: string,
): EnvVar[] {
  const variable = (name: string, source: EnvSource): EnvVar => ({ name, ...literal(source) });
  return [
    variable("MYSQL_HOST", { value: host }),
    variable("MYSQL_PORT", { value: port }),
    variable("MYSQL_DB", { value: database }),
    variable("MYSQL_USER", user),
    ...(password === undefined ? [] : [variable(passwordVariable, password)]),
  ];
}

/** Keeps Kubernetes from expanding `$(NAME)`, and `$$`, in a value. */
function literal(source: EnvSource): EnvSource {
  if (!("value" in source) || source.value === undefined || !/\$[$(]/.test(source.value)) return source;
  return { value: source.value.replaceAll("$", "$$$$") };
}
