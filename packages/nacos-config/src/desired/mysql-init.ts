/**
 * Initialisation of a MySQL database: a Job that waits for the server, creates the database and applies the schema.
 * Whatever the user gives reaches a program as an environment variable or as a file: nothing of it is part of a command.
 */

import type { ConfigObject, Container, Job, JsonMap, PodSpec } from "@quartet/core/kinds";
import { mapOf } from "@quartet/pod-template";
import { MYSQL_SCHEMA } from "../database/schema.ts";
import { type MysqlConnection, mysqlConnection, wantsMysqlInit } from "./database.ts";
import { metadataOf } from "./family.ts";
import { connectionEnv, MYSQL_ARGUMENTS, MYSQL_COMMAND, PASSWORD_VARIABLE } from "./mysql-client.ts";
import { CHILD_LABELS, mysqlInitName } from "./names.ts";
import { type Settings, wrapperOf } from "./settings.ts";
import { mergePodSpec } from "./wrapper/pod-spec.ts";

/** Keys of the ConfigMap: the schema (as in the peer), and the statement that creates the database. */
const SCRIPT_KEY = "SQL_SCRIPT";
const DATABASE_KEY = "CREATE_DATABASE";
/** Volume with the ConfigMap, and where it is mounted. */
const SQL_VOLUME = "sql";
const SQL_PATH = "/sql";
/** Failed pods before the Job is given up. */
const BACKOFF_LIMIT = 3;
/** Time for the whole Job, a server that is still starting included, in seconds. */
const DEADLINE_SECONDS = 600;
/** Label of the Job controller on its pods. */
export const JOB_NAME_LABEL = "batch.kubernetes.io/job-name";

/** An answer is one even if it refuses the login: that shows in the next container, with the server's own words. */
const WAIT_SCRIPT = `until mysqladmin ${MYSQL_ARGUMENTS} ping; do sleep 2; done`;
/** Whoever may use an existing database need not be allowed to create one. */
const CREATE_SCRIPT = `${MYSQL_COMMAND} --database="$MYSQL_DB" --execute='SELECT 1' >/dev/null 2>&1 || exec ${MYSQL_COMMAND} <${SQL_PATH}/${DATABASE_KEY}`;
const SCHEMA_SCRIPT = `exec ${MYSQL_COMMAND} --database="$MYSQL_DB" <${SQL_PATH}/${SCRIPT_KEY}`;
/** Fields that the Job's pod takes from the wrapper. */
const WRAPPER_FIELDS = [
  "nodeSelector",
  "tolerations",
  "imagePullSecrets",
  "securityContext",
  "serviceAccountName",
  "priorityClassName",
];

export interface MysqlInit {
  readonly configMap: ConfigObject;
  readonly job: Job;
}

/** What initialises the database; `undefined` when that is not wanted, or impossible for want of a password. */
export function mysqlInit(settings: Settings): MysqlInit | undefined {
  const { resource, spec, name } = settings;
  const connection = mysqlConnection(spec);
  if (!wantsMysqlInit(spec) || connection.password === undefined) return undefined;
  const metadata = metadataOf(resource, mysqlInitName(name));
  return {
    configMap: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: {
        [SCRIPT_KEY]: MYSQL_SCHEMA,
        [DATABASE_KEY]: createDatabaseStatement(connection.database),
      },
    },
    job: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata,
      spec: {
        backoffLimit: BACKOFF_LIMIT,
        activeDeadlineSeconds: DEADLINE_SECONDS,
        // No label of the nodes' selector: Services must never send anybody here.
        template: { metadata: { labels: { ...CHILD_LABELS } }, spec: jobPod(settings, connection) },
      },
    },
  };
}

function jobPod({ spec, name }: Settings, connection: MysqlConnection): PodSpec {
  const image = spec.mysqlInitImage!;
  const env = connectionEnv(connection, PASSWORD_VARIABLE);
  const container = (containerName: string, script: string, mount = true): Container => ({
    name: containerName,
    image,
    command: ["/bin/sh", "-c", script],
    env,
    ...(mount ? { volumeMounts: [{ name: SQL_VOLUME, mountPath: SQL_PATH, readOnly: true }] } : {}),
    terminationMessagePolicy: "FallbackToLogsOnError",
  });
  const wrapper = wrapperOf(spec);
  const pod: PodSpec = {
    restartPolicy: "Never",
    enableServiceLinks: false,
    ...(wrapper.serviceAccountName ? {} : { automountServiceAccountToken: false }),
    initContainers: [
      container("mysql-wait-server", WAIT_SCRIPT, false),
      container("mysql-create-database", CREATE_SCRIPT),
    ],
    containers: [container("mysql-sql-init", SCHEMA_SCRIPT)],
    volumes: [{ name: SQL_VOLUME, configMap: { name: mysqlInitName(name) } }],
  };
  return mergePodSpec(mergePodSpec(pod, placement(spec as JsonMap)), placement(wrapper));
}

/**
 * What the spec or the wrapper says about where the pod runs and by what rights. Of the affinity, terms about other
 * pods are left out: they spread the nodes of Nacos, which wait for this very pod.
 */
function placement(pod: JsonMap): JsonMap {
  const { nodeAffinity } = mapOf(pod.affinity);
  const taken = Object.fromEntries(WRAPPER_FIELDS.map((field) => [field, pod[field]]));
  return { ...taken, ...(nodeAffinity === undefined ? {} : { affinity: { nodeAffinity } }) };
}

/** The statement that creates a database of any name, which MySQL takes whatever is in it, unless it exists. */
export function createDatabaseStatement(name: string): string {
  const quoted = `\`${name.replaceAll("`", "``")}\``;
  return `CREATE DATABASE IF NOT EXISTS ${quoted} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;\n`;
}
