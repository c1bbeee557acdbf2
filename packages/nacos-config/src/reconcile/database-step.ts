/** Initialises the schema of a PostgreSQL database over the operator's own connection, and reports what became of it. */
import { type Clock, seconds } from "@quartet/core";
import { withDatabase } from "../database/connection.ts";
import { DatabaseError, problemOf } from "../database/errors.ts";
import { type InitResult, initializeSchema } from "../database/init.ts";
import { type SchemaRequest, schemaRequest } from "../database/plan.ts";
import {
  type DatabaseProblem,
  hasPostgres,
  isDatabaseProblem,
  postgresConnection,
  postgresSecrets,
  postgresTarget,
} from "../database/target.ts";
import { normal } from "../desired/notice.ts";
import type { ConditionState } from "../status/conditions.ts";
import type { StepStatus } from "../status/outcome.ts";
import type { Background } from "./background.ts";
import { findSecret } from "./interests.ts";
import type { ResourceMemory } from "./memory.ts";
import { childKey, type Pass } from "./pass.ts";
import type { WatchSet } from "./watch-set.ts";

const CONDITION = "DatabaseReady";

/** What the step needs of the process. */
export interface DatabaseTools {
  readonly watches: WatchSet;
  readonly background: Background;
  readonly clock: Clock;
}

/** What is known of the database of one generation of the resource and of its Secrets. */
export interface KnownSchema {
  readonly fingerprint: string;
  readonly pg: PgStatus;
}

type PgStatus = NonNullable<StepStatus["pg"]>;

/**
 * Sees to the schema. A connection is opened only when the resource or one of its Secrets is new, or after a failure.
 * @param writes false for a pass that must not change anything
 * @returns false while pods that start would not find their tables
 */
export async function databaseStep(
  pass: Pass,
  memory: ResourceMemory,
  tools: DatabaseTools,
  writes: boolean,
): Promise<boolean> {
  const { spec } = pass.settings;
  if (!hasPostgres(spec)) return true;
  const request = schemaRequest(spec);
  if (request === undefined) return true;
  if (!writes) {
    pass.reports.push(...presentState(pass));
    return true;
  }
  if (isDatabaseProblem(request)) return fail(pass, memory, request);
  const fingerprint = databaseFingerprint(pass, tools.watches);
  const known = knownSchema(pass, memory, fingerprint);
  if (known !== undefined) return succeed(pass, memory, { fingerprint, pg: known });
  const result = await initialize(pass, request, fingerprint, tools);
  if (result === "pending") {
    const [present] = presentState(pass);
    pass.reports.push(present ?? state("Unknown", "Connecting", "the database has not answered yet"));
    return false;
  }
  if (isDatabaseProblem(result)) return fail(pass, memory, result);
  if (result.ran) pass.notices.push(normal("DatabaseInitialized", schemaMessage(result.version)));
  return succeed(pass, memory, { fingerprint, pg: statusOf(pass, result, tools.clock.now()) });
}

async function initialize(
  pass: Pass,
  request: SchemaRequest,
  fingerprint: string,
  { watches, background }: DatabaseTools,
): Promise<InitResult | DatabaseProblem | "pending"> {
  const { settings } = pass;
  const connection = postgresConnection(settings.spec);
  if (isDatabaseProblem(connection)) return connection;
  const target = postgresTarget(connection, (name) => findSecret(watches, settings.namespace, name));
  if (isDatabaseProblem(target)) return target;
  // "Always" means once for each generation: a new password alone does not repeat the script.
  const repeated = request.policy === "Always" && isVerified(pass);
  const due: SchemaRequest = repeated ? { ...request, policy: "IfNotPresent" } : request;
  try {
    const answer = await background.ask(childKey(pass, settings.name), "schema", fingerprint, (signal) =>
      withDatabase(target, signal, (database) => initializeSchema(database, due)),
    );
    return answer.state === "pending" ? "pending" : answer.value;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return problemOf(error);
  }
}

/** Everything that an answer depends on: the generation of the resource, and its Secrets by their versions. */
export function databaseFingerprint({ resource, settings }: Pass, watches: WatchSet): string {
  const secrets = postgresSecrets(settings.spec).map((name) => {
    const found = findSecret(watches, settings.namespace, name);
    if (found.state !== "present") return found.state;
    const { uid, resourceVersion } = found.object.metadata;
    return `${uid}/${resourceVersion}`;
  });
  return JSON.stringify([resource.metadata.generation, ...secrets]);
}

/** What is known to be so still: by the memory, and after a restart by the status. */
function knownSchema(pass: Pass, { schema }: ResourceMemory, fingerprint: string): PgStatus | undefined {
  if (schema !== undefined) return schema.fingerprint === fingerprint ? schema.pg : undefined;
  const pg = pass.resource.status?.pg;
  return pg?.lastResult === "Success" && isVerified(pass) ? pg : undefined;
}

/** True when the schema of this generation was in place once. */
function isVerified({ resource }: Pass): boolean {
  return resource.status?.pg?.observedGeneration === resource.metadata.generation;
}

function succeed(pass: Pass, memory: ResourceMemory, known: KnownSchema): true {
  memory.schema = known;
  pass.stepStatus.pg = known.pg;
  const version = known.pg.initVersion ?? 0;
  const reason = version === 0 ? "ExistingSchema" : "Initialized";
  pass.reports.push(state("True", reason, schemaMessage(version)));
  return true;
}

function fail(pass: Pass, memory: ResourceMemory, problem: DatabaseProblem): false {
  // Anything but the fingerprint of a success makes the next pass try again.
  memory.schema = { fingerprint: "", pg: {} };
  const { message } = problem;
  const initialized = pass.resource.status?.pg?.initialized ?? false;
  pass.stepStatus.pg = {
    ...pass.resource.status?.pg,
    initialized,
    lastResult: "Failed",
    lastMessage: message,
  };
  pass.failures.push({ ...problem, condition: CONDITION });
  return false;
}

function statusOf({ resource }: Pass, { version, ran }: InitResult, now: number): PgStatus {
  const before = resource.status?.pg;
  const begun = ran || before?.initialized !== true || before.lastInitTime === undefined;
  return {
    initialized: true,
    initVersion: version,
    lastInitTime: begun ? seconds(now) : before.lastInitTime!,
    lastResult: "Success",
    lastMessage: version === 0 ? schemaMessage(version) : "",
    ...(resource.metadata.generation !== undefined && { observedGeneration: resource.metadata.generation }),
  };
}

function schemaMessage(version: number): string {
  return version === 0 ? "existing schema" : `schema version ${version} is in place`;
}

/** The condition as it stands. */
function presentState({ resource }: Pass): ConditionState[] {
  const found = resource.status?.operatorConditions?.find(({ type }) => type === CONDITION);
  return found === undefined ? [] : [state(found.status, found.reason, found.message)];
}

function state(status: ConditionState["status"], reason: string, message: string): ConditionState {
  return { type: CONDITION, status, reason, message };
}
