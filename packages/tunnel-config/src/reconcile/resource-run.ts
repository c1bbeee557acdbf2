/** One pass over an object with one counterpart. */
import type { ObjectKey, ReconcileContext } from "@quartet/core";
import type { Owner } from "../desired/marker.ts";
import type { Cached } from "../kinds.ts";
import type { SimpleOptions } from "./credentials.ts";
import type { Remote, ResourceKind, ResourceObject, Wanted } from "./resource.ts";
import type { Waiters } from "./waiters.ts";

export interface ResourceOptions extends SimpleOptions {
  readonly waiters: Waiters;
}

/** One pass over an object. */
export interface Run<T extends ResourceObject, W extends Wanted, R extends Remote> {
  readonly type: ResourceKind<T, W, R>;
  readonly object: Cached<T>;
  readonly key: ObjectKey;
  readonly ctx: ReconcileContext;
  readonly options: ResourceOptions;
  readonly owner: Owner;
}

/** Identifier of the counterpart, as far as the status tells it. */
export function idOf<T extends ResourceObject>(
  { idField }: Pick<ResourceKind<T, Wanted, Remote>, "idField">,
  object: Cached<T>,
): string | undefined {
  const id = (object.status as Record<string, unknown> | undefined)?.[idField];
  return typeof id === "string" && id !== "" ? id : undefined;
}
