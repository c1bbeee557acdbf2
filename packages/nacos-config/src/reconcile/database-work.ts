/** Questions to a resource's PostgreSQL database, asked in the background. */
import { type Database, withDatabase } from "../database/connection.ts";
import { DatabaseError, problemOf } from "../database/errors.ts";
import {
  type DatabaseProblem,
  isDatabaseProblem,
  postgresSecrets,
  postgresTarget,
} from "../database/target.ts";
import type { ConditionState } from "../status/conditions.ts";
import { EVENT_CODES } from "../status/outcome.ts";
import type { Pass } from "./pass.ts";
import { findSecret } from "./references.ts";

/** The same question is not asked again sooner after a failure, in milliseconds: passes may come close together. */
export const RETRY_FLOOR_MS = 4_000;

/** Time that a connection has to end by itself when its own limit is over, in milliseconds. */
const ABORT_MS = 5_000;

export interface Question<T> {
  /** A resource has one question of each topic at a time. */
  readonly topic: "schema" | "admin";
  /** Everything that the answer depends on; no secret. */
  readonly fingerprint: string;
  readonly work: (database: Database) => Promise<T>;
}

export type Reply<T> =
  | { readonly state: "ok"; readonly value: T }
  /** The resource is queued with the answer. */
  | { readonly state: "pending" }
  /** `at` in milliseconds since the Unix epoch. */
  | { readonly state: "failed"; readonly problem: DatabaseProblem; readonly at: number };

/** Connects by the spec and its Secrets, and runs the work. Throws what is no failure of the database. */
export async function askDatabase<T>(
  pass: Pass,
  { topic, fingerprint, work }: Question<T>,
): Promise<Reply<T>> {
  const target = postgresTarget(pass.settings.spec, (secret) => findSecret(pass, secret));
  if (isDatabaseProblem(target)) return { state: "failed", problem: target, at: pass.clock.now() };
  const answer = await pass.probes.probe(pass.key, {
    topic,
    fingerprint,
    retryFloorMs: RETRY_FLOOR_MS,
    timeoutMs: target.timeoutMs + ABORT_MS,
    work: (signal) => withDatabase(target, pass.databases, signal, work),
  });
  if (answer.state !== "failed") return answer;
  if (!(answer.error instanceof DatabaseError)) throw answer.error;
  const { reason, detail } = answer.error;
  if (detail !== undefined) pass.ctx.log.info("no connection to the database", { reason, detail });
  return { state: "failed", problem: problemOf(answer.error), at: answer.at };
}

/** Everything that any answer depends on: the resource and its generation, and its Secrets by their versions. */
export function databaseFingerprint(pass: Pass): string {
  const { uid: resource, generation } = pass.resource.metadata;
  const secrets = postgresSecrets(pass.settings.spec).map((name) => {
    const found = findSecret(pass, name);
    if (found.state !== "present") return found.state;
    const { uid, resourceVersion } = found.object.metadata;
    return `${uid}/${resourceVersion}`;
  });
  // A later resource of the same name may come before a pass has seen that the first one was gone.
  return JSON.stringify([resource, generation, ...secrets]);
}

/** A condition as the status has it. */
export function standingCondition({ resource }: Pass, type: string): ConditionState | undefined {
  const found = resource.status?.operatorConditions?.find((condition) => condition.type === type);
  return found && { type, status: found.status, reason: found.reason, message: found.message };
}

/** The failure that a condition of the status tells of, with the code that it was told under. */
export function standingProblem(pass: Pass, type: string): DatabaseProblem | undefined {
  const found = standingCondition(pass, type);
  if (found?.status !== "False") return undefined;
  const { reason, message } = found;
  const told = pass.resource.status?.event?.findLast((entry) => entry.message === `${reason}: ${message}`);
  return { reason, message, code: told?.code ?? EVENT_CODES.system };
}

/**
 * Repeats what the status says of a condition.
 * @param finding reason under which False is a finding, and no failure
 */
export function repeatStanding(pass: Pass, type: "DatabaseReady" | "AdminReady", finding?: string): void {
  const problem = standingProblem(pass, type);
  const standing = standingCondition(pass, type);
  if (problem !== undefined && problem.reason !== finding)
    pass.failures.push({ ...problem, condition: type });
  else if (standing !== undefined) pass.reports.push(standing);
}
