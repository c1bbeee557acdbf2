/** Brings one object to a desired state by server-side apply and tells what that took. */
import { type Kind, type KubeObject, keyOf, keyToString } from "../object.ts";
import { InvalidRequestError, isNotFound } from "./errors.ts";
import type { ApplyOptions, Client } from "./types.ts";

/** Completes the sentence "the object was …". */
export type ApplyResult = "created" | "updated" | "unchanged";

export interface CreateOrApplyOptions<T extends KubeObject> extends ApplyOptions {
  /**
   * The object as it is known now, from a cache for example; `null` when it is known not to exist. Absent: it is
   * read from the server first.
   */
  current?: { readonly metadata: { readonly resourceVersion?: string } } | null;
  /** Last changes to the desired object, on a copy. It may change everything but name and namespace. */
  mutate?: (object: T) => void;
}

/**
 * Applies `object`. `unchanged` means that its resource version did not move. Throws `InvalidRequestError` when the
 * mutate callback renames or moves the object.
 */
export async function createOrApply<T extends KubeObject>(
  client: Pick<Client, "get" | "apply">,
  kind: Kind<T>,
  object: T,
  options: CreateOrApplyOptions<T> = {},
): Promise<{ result: ApplyResult; object: T }> {
  const { current, mutate, ...apply } = options;
  const desired = mutate === undefined ? object : mutated(kind, object, mutate);
  const before = current === undefined ? await live(client, kind, desired, apply) : (current ?? undefined);
  const applied = await client.apply(kind, desired, apply);
  const version = before?.metadata.resourceVersion;
  if (version === undefined) return { result: "created", object: applied };
  return { result: applied.metadata.resourceVersion === version ? "unchanged" : "updated", object: applied };
}

function mutated<T extends KubeObject>(kind: Kind<T>, object: T, mutate: (object: T) => void): T {
  const copy = structuredClone(object);
  mutate(copy);
  const before = keyToString(keyOf(object));
  const after = keyToString(keyOf(copy));
  if (before !== after) {
    throw new InvalidRequestError(
      `${kind.kind} ${before}: the mutate callback changed its name or namespace to ${after}; create another object instead`,
    );
  }
  return copy;
}

async function live<T extends KubeObject>(
  client: Pick<Client, "get">,
  kind: Kind<T>,
  object: T,
  options: ApplyOptions,
): Promise<T | undefined> {
  try {
    const { signal, timeoutMs } = options;
    return await client.get(kind, keyOf(object), {
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
