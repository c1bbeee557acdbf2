/** What the controller remembers of a resource between passes. Losing it, in a restart, costs nothing but time limits. */
import { type ChildMemory, createChildMemory } from "@quartet/core";
import type { AdminFindings } from "../database/rotate.ts";
import type { DatabaseProblem } from "../database/target.ts";
import type { AdminStatus } from "../desired/admin.ts";
import type { ApiVariant } from "../health/client.ts";
import { type Health, NACOS_FAILURE } from "../health/evaluate.ts";
import type { Memory, StepStatus } from "../status/outcome.ts";

/** Failed checks count as several only when they lie so far apart, in milliseconds. */
const FAILURE_DISTANCE_MS = 5_000;

/** How a question to a database failed, and when; milliseconds since the Unix epoch. */
export interface KnownFailure {
  readonly fingerprint: string;
  readonly problem: DatabaseProblem;
  readonly at: number;
}

/** What is known of the administrator since this process began. */
export interface KnownAdmin {
  /** What the status says, or will say with the next write. */
  readonly status?: AdminStatus | undefined;
  /** What the tables held when they were last looked at, and when that was; milliseconds since the Unix epoch. */
  readonly findings?: AdminFindings;
  readonly checkedAt?: number;
}

/** What the last look at the database of one generation of the resource, and of its Secrets, came to. */
export type KnownSchema = KnownFailure | SchemaInPlace;

export interface SchemaInPlace {
  readonly fingerprint: string;
  readonly pg: PgStatus;
  /** When it was looked at; milliseconds since the Unix epoch. */
  readonly at: number;
}

export type PgStatus = NonNullable<StepStatus["pg"]>;

/** Memory of one resource. All times in milliseconds since the Unix epoch. */
export interface ResourceMemory extends Memory {
  readonly uid: string;
  readonly children: ChildMemory;
  /** The JWT signing key that is being created. */
  signingKey?: string;
  generation?: number;
  rolloutRevision?: string | undefined;
  lastNacosFailureAt?: number;
  /** Nothing is known yet but what the status says. */
  firstPass?: boolean;
  /** Since when a change of the pods waits for them to become available. */
  heldSince?: number;
  /** Variant of the Nacos API that worked. */
  variant?: ApiVariant;
  /** The identity header could not be had in the last check. */
  identityMissing?: boolean;
  /** When a publicly known signing key was last warned of. */
  tokenWarnedAt?: number;
  /** What is known of the database; of another fingerprint after a failure. */
  schema?: KnownSchema;
  /** What is known of the administrator in the database. */
  admin?: KnownAdmin;
  /** The failure that repeats, how often it did, and when the next try is due. */
  failing?: { readonly what: string; readonly times: number; readonly dueAt: number };
  /** Since when news that can wait is collected. */
  collectingSince?: number;
  /** Notes on the spec that were told already. */
  told?: ReadonlySet<string>;
}

export interface MemoryStore {
  /** Memory of the resource of this name and uid; one of an earlier uid is dropped. */
  of(name: string, uid: string): ResourceMemory;
  forget(name: string): void;
}

export function createMemoryStore(): MemoryStore {
  const memories = new Map<string, ResourceMemory>();
  return {
    of(name, uid) {
      const known = memories.get(name);
      if (known?.uid === uid) return known;
      const memory: ResourceMemory = {
        uid,
        children: createChildMemory(),
        nacosFailures: 0,
        firstPass: true,
      };
      memories.set(name, memory);
      return memory;
    },
    forget: (name) => void memories.delete(name),
  };
}

/** Notes a change of the spec. A generation that the status knows already was seen by an earlier process. */
export function noteGeneration(
  memory: ResourceMemory,
  generation: number,
  observed: number | undefined,
  now: number,
): void {
  const known = memory.generation ?? observed;
  if (known !== generation) memory.specChangedAt = now;
  memory.generation = generation;
}

/**
 * Notes the begin and the end of a rollout; a new target begins anew.
 * @param persistedSince begin of the rollout by the status, for one that began in an earlier process
 */
export function noteRollout(
  memory: ResourceMemory,
  rolling: boolean,
  revision: string | undefined,
  now: number,
  persistedSince: number | undefined,
): void {
  if (!rolling) {
    delete memory.rolloutSince;
    delete memory.rolloutRevision;
  } else if (memory.rolloutSince === undefined || memory.rolloutRevision !== revision) {
    memory.rolloutSince = memory.rolloutSince === undefined ? (persistedSince ?? now) : now;
    memory.rolloutRevision = revision;
  }
}

/** Counts failed checks in a row. */
export function noteHealth(memory: ResourceMemory, health: Health, now: number): void {
  if (health.state === "passed" || health.code !== NACOS_FAILURE) {
    memory.nacosFailures = 0;
    delete memory.lastNacosFailureAt;
    return;
  }
  const last = memory.lastNacosFailureAt;
  if (last !== undefined && now - last < FAILURE_DISTANCE_MS) return;
  memory.nacosFailures += 1;
  memory.lastNacosFailureAt = now;
}
