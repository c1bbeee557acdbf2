/** Writing `.status`, and only that. */
import { apiVersionOf, type Kind, type KubeObject, keyOf, type ObjectKey } from "../object.ts";
import { isNotFound } from "./errors.ts";
import { mergeDiff } from "./merge-diff.ts";
import type { Session } from "./session.ts";
import type { Client, Discovery, Patch, UpdateOptions, WriteOptions } from "./types.ts";
import type { WriteVerbs } from "./write-verbs.ts";

export type StatusVerbs = Pick<Client, "updateStatus" | "patchStatus">;

/** What the status verbs need beside the session. `told` holds kinds whose lack of a status subresource was logged. */
export interface StatusContext {
  session: Session;
  verbs: WriteVerbs;
  discovery: Discovery;
  told: Set<string>;
}

export function statusVerbs(context: StatusContext): StatusVerbs {
  const { verbs } = context;
  return {
    async updateStatus<T extends KubeObject>(
      kind: Kind<T>,
      object: T,
      options: UpdateOptions = {},
    ): Promise<T> {
      try {
        return await verbs.update(kind, object, { ...options, subresource: "status" });
      } catch (error) {
        if (!(await lacksStatus(context, kind, error))) throw error;
      }
      const { status } = object as { status?: unknown };
      const { resourceVersion } = object.metadata;
      const guard = resourceVersion === undefined ? {} : { metadata: { resourceVersion } };
      return mergeWhole(context, kind, keyOf(object), { ...guard, status }, options);
    },
    async patchStatus<T extends KubeObject & { status?: unknown }>(
      kind: Kind<T>,
      current: { readonly metadata: object; readonly status?: unknown },
      next: object,
      options: WriteOptions = {},
    ): Promise<T | undefined> {
      const status = mergeDiff(current.status ?? {}, next);
      if (status === undefined) return undefined;
      const key = keyOf(current as { metadata: { name?: string; namespace?: string } });
      const patch: Patch = { type: "merge", body: { status } };
      try {
        return await verbs.patch(kind, key, patch, { ...options, subresource: "status" });
      } catch (error) {
        if (!(await lacksStatus(context, kind, error))) throw error;
      }
      return mergeWhole(context, kind, key, { status }, options);
    },
  };
}

/** True when a 404 means that the kind has no status subresource, not that the object is gone. */
async function lacksStatus(context: StatusContext, kind: Kind, error: unknown): Promise<boolean> {
  if (!isNotFound(error)) return false;
  const found = await context.discovery.find(apiVersionOf(kind), kind.kind);
  return !found.subresources.includes("status");
}

function mergeWhole<T extends KubeObject>(
  context: StatusContext,
  kind: Kind<T>,
  key: ObjectKey,
  body: object,
  options: WriteOptions,
): Promise<T> {
  const { session, told, verbs } = context;
  const name = `${kind.plural}.${kind.group}`;
  if (!told.has(name)) {
    told.add(name);
    session.log?.warn("kind has no status subresource, its status is patched on the object itself", {
      group: kind.group,
      kind: kind.kind,
    });
  }
  return verbs.patch(kind, key, { type: "merge", body }, options);
}
