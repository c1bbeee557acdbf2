/** Initialises the schema of a PostgreSQL database over the operator's own connection, and reports what became of it. */
import { seconds } from "@quartet/core";
import type { Database } from "../database/connection.ts";
import { type InitResult, initializeSchema, preflight } from "../database/init.ts";
import { type SchemaRequest, schemaRequest } from "../database/plan.ts";
import { hasPostgres, isDatabaseProblem } from "../database/target.ts";
import { normal } from "../desired/notice.ts";
import { conditionState } from "../status/conditions.ts";
import {
  askDatabase,
  databaseFingerprint,
  RETRY_FLOOR_MS,
  repeatStanding,
  standingCondition,
  standingProblem,
} from "./database-work.ts";
import type { KnownFailure, KnownSchema, PgStatus, SchemaInPlace } from "./memory.ts";
import type { Pass } from "./pass.ts";

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
export async function databaseStep(pass: Pass, writes: boolean): Promise<DatabaseState> {
  const { settings, probes, key } = pass;
  const { spec } = settings;
  const request = hasPostgres(spec) ? schemaRequest(spec) : undefined;
  if (request === undefined) return { startable: true, asking: false };
  if (!writes) {
    repeatStanding(pass, CONDITION);
    return { startable: true, asking: false };
  }
  const now = pass.clock.now();
  const fingerprint = databaseFingerprint(pass);
  if (isDatabaseProblem(request)) return fail(pass, { fingerprint, problem: request, at: now });
  const last = lastLook(pass, fingerprint, now);
  if (probes.isBusy(key, "admin")) {
    // One connection at a time: a rotation is a look, too, unless its spec has changed meanwhile.
    if (last !== undefined) return "pg" in last ? succeed(pass, last) : fail(pass, last);
    probes.end(key, "admin");
  }
  if (last === undefined) return await initialize(pass, request, fingerprint);
  if ("pg" in last) return await lookAgain(pass, last);
  // What failed may have been a look, which to the probes is another question.
  if (now - last.at < RETRY_FLOOR_MS) return fail(pass, last);
  return await initialize(pass, request, fingerprint, last);
}

/** What is known to be so still: by the memory, and after a restart by the status. */
function lastLook(pass: Pass, fingerprint: string, now: number): KnownSchema | undefined {
  const { schema } = pass.memory;
  if (schema !== undefined) return schema.fingerprint === fingerprint ? schema : undefined;
  const pg = pass.resource.status?.pg;
  if (pg?.lastResult === "Success" && isVerified(pass)) return { fingerprint, pg, at: now };
  const { generation } = pass.resource.metadata;
  const problem =
    generation === pass.resource.status?.observedGeneration ? standingProblem(pass, CONDITION) : undefined;
  return problem && { fingerprint, problem, at: 0 };
}

async function lookAgain(pass: Pass, known: SchemaInPlace): Promise<DatabaseState> {
  const { fingerprint } = known;
  const { clock } = pass;
  if (clock.now() - known.at < LOOK_MS) return succeed(pass, known);
  const question = { topic: "schema", fingerprint: `look ${fingerprint}`, work: preflight } as const;
  const reply = await askDatabase(pass, question);
  if (reply.state === "failed") return fail(pass, { ...reply, fingerprint });
  if (reply.state === "pending") return { ...succeed(pass, known), asking: true };
  return succeed(pass, { ...known, at: clock.now() });
}

/** @param failure how it failed the last time, if it did */
async function initialize(
  pass: Pass,
  request: SchemaRequest,
  fingerprint: string,
  failure?: KnownFailure,
): Promise<DatabaseState> {
  // "Always" means once for each generation: a new password alone does not repeat the script.
  const repeated = request.policy === "Always" && isVerified(pass);
  const due: SchemaRequest = repeated ? { ...request, policy: "IfNotPresent" } : request;
  const work = (database: Database): Promise<InitResult> => initializeSchema(database, due);
  const reply = await askDatabase(pass, { topic: "schema", fingerprint, work });
  if (reply.state === "failed") return fail(pass, { ...reply, fingerprint });
  if (reply.state === "pending") return wait(pass, failure);
  const result = reply.value;
  if (result.ran) pass.notices.push(normal("DatabaseInitialized", schemaMessage(result.version)));
  const now = pass.clock.now();
  return succeed(pass, { fingerprint, pg: statusOf(pass, result, now), at: now });
}

/** There is no answer yet: a failure of the same question stands, and so does a condition that is True. */
function wait(pass: Pass, failure: KnownFailure | undefined): DatabaseState {
  if (failure !== undefined) return { ...fail(pass, failure), asking: true };
  const standing = standingCondition(pass, CONDITION);
  const connecting = conditionState(CONDITION, "Unknown", "Connecting", "the database has not answered yet");
  pass.reports.push(standing?.status === "True" ? standing : connecting);
  return { startable: isVerified(pass), asking: true };
}

/** True when the schema of this generation was in place once: pods that start find their tables. */
function isVerified({ resource }: Pass): boolean {
  return resource.status?.pg?.observedGeneration === resource.metadata.generation;
}

function succeed(pass: Pass, known: SchemaInPlace): DatabaseState {
  pass.memory.schema = known;
  pass.stepStatus.pg = known.pg;
  const version = known.pg.initVersion ?? 0;
  const reason = version === 0 ? "ExistingSchema" : "Initialized";
  pass.reports.push(conditionState(CONDITION, "True", reason, schemaMessage(version)));
  return { startable: true, asking: false };
}

function fail(pass: Pass, failure: KnownFailure): DatabaseState {
  pass.memory.schema = failure;
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
