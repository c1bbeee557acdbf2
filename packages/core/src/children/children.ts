/**
 * The children of one owner in one pass: created, taken over, updated, removed, each with as few requests as possible,
 * and with one {@link Problem} for whatever keeps that from happening.
 */
import { InvalidRequestError, isAlreadyExists } from "../client/errors.ts";
import { sameJson } from "../client/merge-diff.ts";
import type { Clock } from "../clock.ts";
import type { SourceReader } from "../controller/types.ts";
import { type DeepReadonly, type Kind, type KubeObject, keyOf, type ObjectKey } from "../object.ts";
import { type Claim, claimOf, claimProblem, type Family, namespaceOf } from "./family.ts";
import { type ChildMemory, fingerprintOf } from "./memory.ts";
import { isProblem, type Problem, problemOf } from "./problem.ts";
import { assertChild, createWrites, isOutdated, type WriteContext, type Writes } from "./writes.ts";

/** Tries before a conflict is left to the next pass. */
const MAX_TRIES = 4;

export interface ChildrenOptions<O extends KubeObject> {
  readonly family: Family<O>;
  readonly owner: DeepReadonly<O>;
  /** Kept by the caller from pass to pass, one for each uid of an owner. */
  readonly memory: ChildMemory;
  readonly clock: Clock;
}

export interface ChildSpec<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly name: string;
  /** Takes over whatever nobody controls. */
  readonly force?: boolean;
}

/** How a child is to be. All are pure; they are called again when the server knows a newer object. */
export interface ChildPlan<T extends KubeObject> {
  create(): T;
  /** The live object brought to what is wanted; equal to it when nothing is to be done. */
  update(live: DeepReadonly<T>): T | DeepReadonly<T>;
  /** Whether that cannot be had by an update: the object is deleted, and created anew. */
  replaces?(live: DeepReadonly<T>): boolean;
}

export interface Ensured<T extends KubeObject> {
  /** The owner's object after the pass, as far as it is known; absent when there is none. */
  readonly object?: DeepReadonly<T>;
  /** The object that was decided by; absent when there was none. */
  readonly before?: DeepReadonly<T>;
  /** `settled`: the server took the update without any change, and is not asked for it again. */
  readonly action: "none" | "created" | "updated" | "replaced" | "settled";
  readonly problem?: Problem;
}

/** Writes for one owner; see {@link Writes}. */
export interface Children<O extends KubeObject> extends Pick<Writes, "attempt" | "remove" | "tryOut"> {
  readonly owner: DeepReadonly<O>;
  key(name: string): ObjectKey;
  claim(object: DeepReadonly<KubeObject>, force?: boolean): Claim;
  /** The child as the cache has it. */
  read<T extends KubeObject>(kind: Kind<T>, name: string): DeepReadonly<T> | undefined;
  /** Brings one child to what is wanted. Throws what is no answer of the API server. */
  ensure<T extends KubeObject>(child: ChildSpec<T>, plan: ChildPlan<T>): Promise<Ensured<T>>;
}

/**
 * The children of an owner, for one pass. They are read from the controller's sources, which may hold none but those with
 * the family's labels.
 */
export function childrenOf<O extends KubeObject>(
  ctx: WriteContext & { readonly cache: Pick<SourceReader, "source"> },
  { family, owner, memory, clock }: ChildrenOptions<O>,
): Children<O> {
  const writes = createWrites(ctx, memory, clock);
  const namespace = namespaceOf(family, owner);
  const read = <T extends KubeObject>(kind: Kind<T>, key: ObjectKey) => ctx.cache.source(kind).get(key);
  const keyOfChild = (name: string): ObjectKey => ({ namespace, name });
  let ownerLives: Promise<boolean> | undefined;

  /** An owner that the cache still shows may be gone or going: nothing is taken over for it. */
  const isOwnerLive = (): Promise<boolean> => {
    ownerLives ??= writes.get(family.owner, keyOf(owner)).then((live) => {
      return live?.metadata.uid === owner.metadata.uid && live?.metadata.deletionTimestamp === undefined;
    });
    return ownerLives;
  };

  /** Carries out what the plan says of the object as it is known. */
  const carryOut = async <T extends KubeObject>(
    { kind, name, force }: ChildSpec<T>,
    plan: ChildPlan<T>,
    live: DeepReadonly<T> | undefined,
  ): Promise<Ensured<T>> => {
    const key = keyOfChild(name);
    if (live === undefined) {
      const wanted = plan.create();
      assertChild(kind, key, wanted);
      const created = await writes.create(kind, wanted);
      return isProblem(created)
        ? { action: "none", problem: created }
        : { action: "created", object: created };
    }
    const claim = claimOf(family, owner, live, force);
    const refused = claimProblem(`${kind.kind} ${name}`, claim);
    if (refused !== undefined) return { action: "none", problem: refused };
    const unchanged: Ensured<T> = { action: "none", before: live, object: live };
    const next = plan.update(live) as T;
    if (sameJson(next, live)) return unchanged;
    const replace = plan.replaces?.(live) ?? false;
    const object = replace ? plan.create() : next;
    assertChild(kind, key, object);
    const id = `${kind.plural}/${name}`;
    const fingerprint = fingerprintOf(object, live);
    if (memory.settled.get(id) === fingerprint) return unchanged;
    if (claim.state === "adoptable" && !(await isOwnerLive())) return { action: "none", before: live };
    const after = replace ? await writes.replace(kind, live, object) : await writes.update(kind, object);
    if (isProblem(after)) {
      return claim.state === "ours" ? { ...unchanged, problem: after } : { action: "none", problem: after };
    }
    if (replace) return { action: "replaced", before: live, object: after };
    // The answer to a dry run has the old version, whatever it would change.
    const settled = ctx.dryRun !== true && after.metadata.resourceVersion === live.metadata.resourceVersion;
    if (settled) memory.settled.set(id, fingerprint);
    return { action: settled ? "settled" : "updated", before: live, object: after };
  };

  return {
    owner,
    key: keyOfChild,
    claim: (object, force) => claimOf(family, owner, object, force),
    read: (kind, name) => read(kind, keyOfChild(name)),
    attempt: writes.attempt,
    remove: writes.remove,
    tryOut: writes.tryOut,
    async ensure<T extends KubeObject>(child: ChildSpec<T>, plan: ChildPlan<T>) {
      const { kind, name } = child;
      const key = keyOfChild(name);
      if (kind.namespaced !== (namespace !== "")) {
        throw new InvalidRequestError(`${kind.kind} ${name} cannot be a child of ${family.owner.kind}`);
      }
      const id = `${kind.plural}/${name}`;
      let live = read(kind, key);
      let known = live !== undefined || !memory.taken.has(id);
      for (let tries = 1; ; tries += 1) {
        try {
          if (!known) live = await writes.get(kind, key);
          if (!known && live === undefined) memory.taken.delete(id);
          known = true;
          return await carryOut(child, plan, live);
        } catch (error) {
          if (!isOutdated(error))
            return { action: "none", problem: problemOf(`${kind.kind} ${name}`, error) };
          if (tries >= MAX_TRIES) throw error;
          if (live === undefined && isAlreadyExists(error)) memory.taken.add(id);
          known = false;
        }
      }
    },
  };
}
