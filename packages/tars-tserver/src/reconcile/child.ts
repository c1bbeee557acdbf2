/** Brings one child of a server to what is wanted, with as few requests as possible (tars.md 7.1). */
import {
  type Client,
  controllerOf,
  type DeepReadonly,
  groupOf,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from "@quartet/core";
import type { Step } from "../desired/sync.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_SERVER } from "../kinds.ts";

/** Tries before a conflict is left to the next pass. */
const MAX_TRIES = 4;

/** What came of a child. */
export type ChildOutcome =
  | { readonly state: "done"; readonly wrote: boolean }
  /** Somebody else's object has the name. */
  | { readonly state: "foreign" }
  /** It is going, and is made anew when it is gone. */
  | { readonly state: "going"; readonly because?: string };

export interface ChildOptions<T extends KubeObject> {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly kind: Kind<T>;
  readonly owner: DeepReadonly<KubeObject>;
  /** The child as the cache has it, which holds no objects without the labels of a server. */
  readonly cached: DeepReadonly<T> | undefined;
  /** A namesake that is not ours is deleted like a leftover. */
  readonly replacesForeign?: boolean;
  /** Asks the server whether it would take the object, before the live one is deleted. */
  readonly tryOut?: (object: T) => Promise<void>;
  /** Before the live object is deleted in order to be made anew. */
  readonly beforeRecreate?: (live: DeepReadonly<T>) => Promise<void>;
  /** Once it is deleted. */
  readonly onRecreate?: (because: string) => void;
}

/** How an object relates to a server. */
export type Relation = "ours" | "leftover" | "foreign";

/** Whose an object is; a leftover belongs to a server of the same name that is gone. */
export function relationOf(object: DeepReadonly<KubeObject>, owner: DeepReadonly<KubeObject>): Relation {
  const controller = controllerOf(object);
  if (controller === undefined) return "foreign";
  if (controller.uid === owner.metadata.uid) return "ours";
  const isNamesake =
    controller.kind === T_SERVER.kind &&
    groupOf(controller.apiVersion) === T_SERVER.group &&
    controller.name === owner.metadata.name;
  return isNamesake ? "leftover" : "foreign";
}

/** Decides by the cached child and writes; whenever the server knows a newer one, decides again by that. */
export async function ensureChild<T extends KubeObject>(
  options: ChildOptions<T>,
  decide: (live: DeepReadonly<T> | undefined) => Step<T>,
): Promise<ChildOutcome> {
  let live = options.cached;
  for (let tries = 1; ; tries += 1) {
    try {
      const outcome = await carryOut(options, live, decide);
      if (outcome !== undefined) return outcome;
      live = undefined;
    } catch (error) {
      const outdated = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!outdated || tries >= MAX_TRIES) throw error;
      live = await read(options);
    }
  }
}

/** `undefined`: the live object is gone, decide anew. */
async function carryOut<T extends KubeObject>(
  options: ChildOptions<T>,
  live: DeepReadonly<T> | undefined,
  decide: (live: DeepReadonly<T> | undefined) => Step<T>,
): Promise<ChildOutcome | undefined> {
  const { client, kind, signal, owner, replacesForeign = false } = options;
  const write = { signal, fieldManager: FIELD_MANAGER };
  if (live !== undefined) {
    const relation = relationOf(live, owner);
    if (relation === "foreign" && !replacesForeign) return { state: "foreign" };
    if (live.metadata.deletionTimestamp !== undefined) return { state: "going" };
    if (relation !== "ours") {
      await remove(options, live, "Background");
      return undefined;
    }
  }
  const step = decide(live);
  switch (step.action) {
    case "none":
      return { state: "done", wrote: false };
    case "create":
      await client.create(kind, step.object, write);
      return { state: "done", wrote: true };
    case "update":
      await client.update(kind, step.object, write);
      return { state: "done", wrote: true };
    case "recreate": {
      if (live === undefined) throw new Error(`${kind.kind}: there is nothing to make anew`);
      await options.tryOut?.(step.object);
      await options.beforeRecreate?.(live);
      await remove(options, live, step.propagation);
      options.onRecreate?.(step.because);
      // With its dependents left alone it lives on until the garbage collector has let go of them.
      if (step.propagation === "Orphan") return { state: "going", because: step.because };
      await client.create(kind, step.object, write);
      return { state: "done", wrote: true };
    }
  }
}

async function remove<T extends KubeObject>(
  { client, kind, signal }: ChildOptions<T>,
  { metadata }: DeepReadonly<T>,
  propagationPolicy: "Background" | "Orphan",
): Promise<void> {
  const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
  const { uid } = metadata;
  await client.deleteIfExists(kind, key, {
    signal,
    propagationPolicy,
    ...(uid !== undefined && { preconditions: { uid } }),
  });
}

/** Deletes a child that is ours, or a leftover; anything else of the name is left alone. */
export async function removeChild<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  cached: DeepReadonly<T> | undefined,
  owned: (object: DeepReadonly<T>) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  if (cached === undefined || cached.metadata.deletionTimestamp !== undefined || !owned(cached)) return false;
  const { uid, namespace = "", name = "" } = cached.metadata;
  return client
    .deleteIfExists(
      kind,
      { namespace, name },
      {
        signal,
        propagationPolicy: "Background",
        ...(uid !== undefined && { preconditions: { uid } }),
      },
    )
    .catch((error) => {
      // Another object has the name by now.
      if (isConflict(error)) return false;
      throw error;
    });
}

async function read<T extends KubeObject>({
  client,
  kind,
  owner,
  signal,
}: ChildOptions<T>): Promise<DeepReadonly<T> | undefined> {
  const key: ObjectKey = { namespace: owner.metadata.namespace ?? "", name: owner.metadata.name ?? "" };
  try {
    return (await client.get(kind, key, { signal })) as DeepReadonly<T>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
