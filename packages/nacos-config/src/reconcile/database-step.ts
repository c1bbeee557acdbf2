/** Initialises the schema of a PostgreSQL database over the operator's own connection, and reports what became of it. */
import { seconds } from "@quartet/core";
import { type InitResult, initializeSchema, preflight } from "../database/init.ts";
import { type SchemaRequest, schemaRequest } from "../database/plan.ts";
import { hasPostgres, isDatabaseProblem } from "../database/target.ts";
import { normal } from "../desired/notice.ts";
import type { ConditionState } from "../status/conditions.ts";
import {
  askDatabase,
  type DatabaseTools,
  databaseFingerprint,
  type KnownFailure,
  type Reply,
  repeatStanding,
  standingCondition,
  standingProblem,
} from "./database-work.ts";
import type { KnownSchema, PgStatus, ResourceMemory, SchemaInPlace } from "./memory.ts";
import { childKey, type Pass } from "./pass.ts";

const CONDITION = "DatabaseReady";
/** While the schema is in place, the server is looked at again so often at most, in milliseconds. */
const LOOK_MS = 5_000;

/** What the pass may do next. */
export interface DatabaseState {
  /** False while pods that start would not find their tables. */
  readonly startable: boolean;
  /** A connection of the step is open. */
  readonly asking: boolean;
}

/**
 * Sees to the schema, and once it is in place that the server can be written to. A connection is opened by passes that
 * are {@link LOOK_MS} apart, and at once when the resource or one of its Secrets is new.
 * @param writes false for a pass that must not change anything
 */
export async function databaseStep(
  pass: Pass,
  memory: ResourceMemory,
  tools: DatabaseTools,
  writes: boolean,
): Promise<DatabaseState> {
  const { spec } = pass.settings;
  const request = hasPostgres(spec) ? schemaRequest(spec) : undefined;
  if (request === undefined) return { startable: true, asking: false };
  if (!writes) {
    repeatStanding(pass, CONDITION);
    return { startable: true, asking: false };
  }
  const now = tools.clock.now();
  const fingerprint = databaseFingerprint(pass, tools.referred);
  if (isDatabaseProblem(request)) return fail(pass, memory, { fingerprint, problem: request, at: now });
  const last = lastLook(pass, memory, fingerprint, now);
  const key = childKey(pass, pass.settings.name);
  if (tools.probes.isBusy(key, "admin")) {
    // One connection at a time: a rotation is a look, too, unless its spec has changed meanwhile.
    if (last !== undefined) return "pg" in last ? succeed(pass, memory, last) : fail(pass, memory, last);
    tools.probes.end(key, "admin");
  }
  if (last !== undefined && "pg" in last) return await lookAgain(pass, memory, tools, last);
  return await initialize(pass, memory, tools, { request, fingerprint, failure: last });
}

/** What is known to be so still: by the memory, and after a restart by the status. */
function lastLook(
  pass: Pass,
  { schema }: ResourceMemory,
  fingerprint: string,
  now: number,
): KnownSchema | undefined {
  if (schema !== undefined) return schema.fingerprint === fingerprint ? schema : undefined;
  const pg = pass.resource.status?.pg;
  if (pg?.lastResult === "Success" && isVerified(pass)) return { fingerprint, pg, at: now };
  const { generation } = pass.resource.metadata;
  const problem =
    generation === pass.resource.status?.observedGeneration ? standingProblem(pass, CONDITION) : undefined;
  return problem && { fingerprint, problem, at: 0 };
}

async function lookAgain(
  pass: Pass,
  memory: ResourceMemory,
  tools: DatabaseTools,
  known: SchemaInPlace,
): Promise<DatabaseState> {
  const { fingerprint } = known;
  if (tools.clock.now() - known.at < LOOK_MS) return succeed(pass, memory, known);
  const reply = await askDatabase(pass, tools, {
    topic: "schema",
    fingerprint: `look ${fingerprint}`,
    failure: undefined,
    work: preflight,
  });
  if (reply.state === "failed") return fail(pass, memory, { ...reply.failure, fingerprint });
  if (reply.state === "pending") return { ...succeed(pass, memory, known), asking: true };
  return succeed(pass, memory, { ...known, at: tools.clock.now() });
}

interface Due {
  readonly request: SchemaRequest;
  readonly fingerprint: string;
  readonly failure: KnownFailure | undefined;
}

async function initialize(
  pass: Pass,
  memory: ResourceMemory,
  tools: DatabaseTools,
  { request, fingerprint, failure }: Due,
): Promise<DatabaseState> {
  // "Always" means once for each generation: a new password alone does not repeat the script.
  const repeated = request.policy === "Always" && isVerified(pass);
  const due: SchemaRequest = repeated ? { ...request, policy: "IfNotPresent" } : request;
  const reply: Reply<InitResult> = await askDatabase(pass, tools, {
    topic: "schema",
    fingerprint,
    failure,
    work: (database) => initializeSchema(database, due),
  });
  if (reply.state === "failed") return fail(pass, memory, reply.failure);
  if (reply.state === "pending") return wait(pass, memory, reply.failure);
  const result = reply.value;
  if (result.ran) pass.notices.push(normal("DatabaseInitialized", schemaMessage(result.version)));
  const now = tools.clock.now();
  return succeed(pass, memory, { fingerprint, pg: statusOf(pass, result, now), at: now });
}

/** There is no answer yet: a failure of the same question stands, and so does a condition that is True. */
function wait(pass: Pass, memory: ResourceMemory, failure: KnownFailure | undefined): DatabaseState {
  if (failure !== undefined) return { ...fail(pass, memory, failure), asking: true };
  const standing = standingCondition(pass, CONDITION);
  const connecting = state("Unknown", "Connecting", "the database has not answered yet");
  pass.reports.push(standing?.status === "True" ? standing : connecting);
  return { startable: isVerified(pass), asking: true };
}

/** True when the schema of this generation was in place once: pods that start find their tables. */
function isVerified({ resource }: Pass): boolean {
  return resource.status?.pg?.observedGeneration === resource.metadata.generation;
}

function succeed(pass: Pass, memory: ResourceMemory, known: SchemaInPlace): DatabaseState {
  memory.schema = known;
  pass.stepStatus.pg = known.pg;
  const version = known.pg.initVersion ?? 0;
  const reason = version === 0 ? "ExistingSchema" : "Initialized";
  pass.reports.push(state("True", reason, schemaMessage(version)));
  return { startable: true, asking: false };
}

function fail(pass: Pass, memory: ResourceMemory, failure: KnownFailure): DatabaseState {
  memory.schema = failure;
  const { problem } = failure;
  const initialized = pass.resource.status?.pg?.initialized ?? false;
  pass.stepStatus.pg = {
    ...pass.resource.status?.pg,
    initialized,
    lastResult: "Failed",
    lastMessage: problem.message,
  };
  pass.failures.push({ ...problem, condition: CONDITION });
  return { startable: isVerified(pass), asking: false };
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

function state(status: ConditionState["status"], reason: string, message: string): ConditionState {
  return { type: CONDITION, status, reason, message };
}
