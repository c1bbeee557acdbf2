/** Brings one object to what is wanted, with as few requests as possible. */
import {
  type Client,
  type DeepReadonly,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Kind,
  type KubeObject,
  keyOf,
  type ObjectKey,
} from "@quartet/core";

/** Tries before a conflict is left to the next pass. */
const MAX_TRIES = 4;

/** What is to be done about an object. */
export type Decision<T extends KubeObject, R> =
  | { readonly action: "none"; readonly result: R }
  | { readonly action: "create" | "update"; readonly object: T; readonly result: R }
  /** Deletes the live object, by its uid, and creates it anew. */
  | { readonly action: "replace"; readonly object: T; readonly result: R };

export interface Ensured<T extends KubeObject, R> {
  /** The object after the pass; absent when there is none. */
  readonly object?: DeepReadonly<T>;
  readonly action: Decision<T, R>["action"];
  readonly result: R;
}

export interface EnsureOptions<T extends KubeObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly key: ObjectKey;
  /** The object as the cache has it. The cache holds no objects without the operator's labels. */
  readonly cached: DeepReadonly<T> | undefined;
  /** Names that objects outside the cache were found to have: the server is asked before one is created again. */
  readonly taken: Set<string>;
  readonly signal: AbortSignal;
}

/**
 * Decides by the cached object and writes; whenever the server knows a newer one, decides again by that.
 * @param decide called with the live object, `undefined` when there is none
 */
export async function ensure<T extends KubeObject, R>(
  options: EnsureOptions<T>,
  decide: (live: DeepReadonly<T> | undefined) => Decision<T, R>,
): Promise<Ensured<T, R>> {
  const { cached, taken, kind, key } = options;
  const id = `${kind.plural}/${key.name}`;
  let live = cached;
  let unsure = taken.has(id);
  for (let tries = 1; ; tries += 1) {
    const decision = decide(live);
    if (live === undefined && unsure && decision.action !== "none") {
      live = await read(options);
      unsure = false;
      if (live !== undefined) continue;
      taken.delete(id);
    }
    try {
      return await carryOut(options, decision, live);
    } catch (error) {
      const outdated = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!outdated || tries >= MAX_TRIES) throw error;
      if (live === undefined && isAlreadyExists(error)) taken.add(id);
      live = await read(options);
      unsure = false;
    }
  }
}

async function carryOut<T extends KubeObject, R>(
  { client, kind, signal }: EnsureOptions<T>,
  decision: Decision<T, R>,
  live: DeepReadonly<T> | undefined,
): Promise<Ensured<T, R>> {
  const { action, result } = decision;
  switch (action) {
    case "none":
      return { action, result, ...(live === undefined ? {} : { object: live }) };
    case "create":
      return {
        action,
        result,
        object: (await client.create(kind, decision.object, { signal })) as DeepReadonly<T>,
      };
    case "update":
      return {
        action,
        result,
        object: (await client.update(kind, decision.object, { signal })) as DeepReadonly<T>,
      };
    case "replace": {
      const { uid } = live?.metadata ?? {};
      await client.deleteIfExists(kind, keyOf(decision.object), {
        signal,
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      });
      return {
        action,
        result,
        object: (await client.create(kind, decision.object, { signal })) as DeepReadonly<T>,
      };
    }
  }
}

async function read<T extends KubeObject>({
  client,
  kind,
  key,
  signal,
}: EnsureOptions<T>): Promise<DeepReadonly<T> | undefined> {
  try {
    return (await client.get(kind, key, { signal })) as DeepReadonly<T>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
