/** The requests for one owner's children: what was refused is not sent again in the same form before its time. */
import { InvalidRequestError, isAlreadyExists, isConflict, isNotFound } from "../client/errors.ts";
import type { Clock } from "../clock.ts";
import type { ReconcileContext } from "../controller/types.ts";
import {
  apiVersionOf,
  type DeepReadonly,
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  type ObjectKey,
} from "../object.ts";
import { type ChildMemory, fingerprintOf, noteRefusal, standingRefusal } from "./memory.ts";
import { isProblem, type Problem, problemOf } from "./problem.ts";

/** What writing needs of a reconcile's context. */
export type WriteContext = Pick<ReconcileContext, "client" | "signal" | "dryRun">;

/** A write that may meet refusals again and again. */
export interface Attempt {
  /** Verb and object; the same for each try. */
  readonly id: string;
  /** What it is about, for messages: `StatefulSet demo`. */
  readonly subject: string;
  /** All that the write depends on. */
  readonly wanted: unknown;
}

export interface Writes {
  /**
   * Does the work unless the same was refused and its next try is not due. A problem that the work returns counts like a
   * refusal that it throws. Throws answers that mean that the cache lags behind, and what is no answer at all.
   */
  attempt<R>(attempt: Attempt, work: () => Promise<R>): Promise<R | Problem>;
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<DeepReadonly<T> | undefined>;
  create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<DeepReadonly<T> | Problem>;
  update<T extends KubeObject>(kind: Kind<T>, object: T): Promise<DeepReadonly<T> | Problem>;
  /** Deletes the live object and creates it anew, unless the server would not take it back. */
  replace<T extends KubeObject>(
    kind: Kind<T>,
    live: DeepReadonly<T>,
    object: T,
  ): Promise<DeepReadonly<T> | Problem>;
  /** `undefined` when the object is gone. */
  remove<T extends KubeObject>(
    kind: Kind<T>,
    object: DeepReadonly<T>,
    options?: RemoveOptions,
  ): Promise<Problem | undefined>;
  /** Why the server would not create the object, its name aside; `undefined` when it would. */
  tryOut<T extends KubeObject>(kind: Kind<T>, object: T): Promise<Problem | undefined>;
}

export interface RemoveOptions {
  /** What becomes of the object's own dependents; default: the server's. */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** Deletes the object only as it was seen, and not a newer version of it. */
  readonly exactVersion?: boolean;
}

/** An answer that means that the cache lags behind. */
export function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/** A child is written under the name that was asked for, as the kind that was asked for, and nowhere else. */
export function assertChild(kind: Kind, key: ObjectKey, object: KubeObject): void {
  const found = keyToString(keyOf(object));
  if (found === keyToString(key) && object.kind === kind.kind && object.apiVersion === apiVersionOf(kind))
    return;
  throw new InvalidRequestError(
    `${object.apiVersion} ${object.kind} ${found} is not the child that was asked for, ${apiVersionOf(kind)} ${kind.kind} ${keyToString(key)}`,
  );
}

async function outcomeOf<R>(subject: string, work: () => Promise<R>): Promise<R | Problem> {
  try {
    return await work();
  } catch (error) {
    if (isOutdated(error)) throw error;
    return problemOf(subject, error);
  }
}

export function createWrites(ctx: WriteContext, memory: ChildMemory, clock: Clock): Writes {
  const { client, signal } = ctx;

  const attempt = async <R>(
    { id, subject, wanted }: Attempt,
    work: () => Promise<R>,
  ): Promise<R | Problem> => {
    const fingerprint = fingerprintOf(wanted);
    const standing = standingRefusal(memory, id, fingerprint, clock);
    if (standing !== undefined) return standing;
    const result = await outcomeOf(subject, work);
    if (isProblem(result)) {
      const lasting = result.cause === "refused" || result.cause === "invalid";
      return lasting ? noteRefusal(memory, id, fingerprint, result, clock) : result;
    }
    memory.refused.delete(id);
    return result;
  };

  const attemptOf = (verb: string, kind: Kind, name: string, wanted: unknown): Attempt => ({
    id: `${verb} ${kind.plural}/${name}`,
    subject: `${kind.kind} ${name}`,
    wanted,
  });

  const writes: Writes = {
    attempt,
    async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey) {
      try {
        return (await client.get(kind, key, { signal })) as DeepReadonly<T>;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    create: <T extends KubeObject>(kind: Kind<T>, object: T) =>
      attempt(attemptOf("create", kind, object.metadata.name ?? "", object), async () => {
        return (await client.create(kind, object, { signal })) as DeepReadonly<T>;
      }),
    update: <T extends KubeObject>(kind: Kind<T>, object: T) =>
      attempt(attemptOf("update", kind, object.metadata.name ?? "", object), async () => {
        return (await client.update(kind, object, { signal })) as DeepReadonly<T>;
      }),
    async remove(kind, object, { propagationPolicy, exactVersion = false } = {}) {
      const { uid, resourceVersion } = object.metadata;
      const preconditions = {
        ...(uid && { uid }),
        ...(exactVersion && resourceVersion && { resourceVersion }),
      };
      const options = { signal, preconditions, ...(propagationPolicy && { propagationPolicy }) };
      const result = await attempt(attemptOf("delete", kind, object.metadata.name ?? "", uid), () =>
        client.deleteIfExists(kind, keyOf(object), options),
      );
      return isProblem(result) ? result : undefined;
    },
    async tryOut(kind, object) {
      // A plan would show it as a change.
      if (ctx.dryRun === true) return undefined;
      const wanted = attemptOf("create", kind, object.metadata.name ?? "", object);
      try {
        const result = await attempt(wanted, () => client.create(kind, object, { signal, dryRun: true }));
        return isProblem(result) ? result : undefined;
      } catch (error) {
        // The name is looked at last, so that it is taken means that all else is well.
        if (isAlreadyExists(error)) return undefined;
        throw error;
      }
    },
    async replace(kind, live, object) {
      const kept = (await writes.tryOut(kind, object)) ?? (await writes.remove(kind, live));
      return kept ?? (await writes.create(kind, object));
    },
  };
  return writes;
}
