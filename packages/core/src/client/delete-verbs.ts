/** delete, deleteIfExists, deleteCollection and evict. */
import { POD } from "../kinds/index.ts";
import type { Kind, ObjectKey } from "../object.ts";
import { InvalidRequestError, isNotFound } from "./errors.ts";
import { collectionPath, objectPath, queryString } from "./paths.ts";
import { effectiveKey, effectiveNamespace, type Session } from "./session.ts";
import type { Client, DeleteOptions, ListOptions } from "./types.ts";
import { sendWrite, writeInfo } from "./write.ts";

/** Dependents go after their owner, which is gone at once; kubectl's default. CORE-145. */
const PROPAGATION_POLICY = "Background";

export type DeleteVerbs = Pick<Client, "delete" | "deleteIfExists" | "deleteCollection" | "evict">;

export function deleteVerbs(session: Session): DeleteVerbs {
  const remove = async (kind: Kind, key: ObjectKey, options: DeleteOptions = {}): Promise<void> => {
    const target = effectiveKey(session, kind, key);
    await sendWrite(session, {
      info: writeInfo("delete", kind, target, options),
      method: "DELETE",
      path: objectPath(kind, target),
      body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...deleteOptions(options) }),
      repeatable: "idempotent",
      options,
    });
  };

  return {
    delete: remove,
    async deleteIfExists(kind, key, options) {
      try {
        await remove(kind, key, options);
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
    deleteCollection: (kind, options) => deleteCollection(session, kind, options),
    evict: (pod, options = {}) => evict(session, pod, options),
  };
}

async function deleteCollection(
  session: Session,
  kind: Kind,
  options: ListOptions & DeleteOptions,
): Promise<void> {
  const namespace = effectiveNamespace(session, kind, options.namespace);
  if (kind.namespaced && namespace === "") {
    throw new InvalidRequestError(
      `${kind.kind}: deleteCollection needs a namespace; the server has no such request for all namespaces`,
    );
  }
  const query = queryString({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
  await sendWrite(session, {
    info: writeInfo("deletecollection", kind, { namespace, name: "" }, options),
    method: "DELETE",
    path: collectionPath(kind, namespace) + query,
    body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...deleteOptions(options) }),
    repeatable: "idempotent",
    options,
  });
}

async function evict(session: Session, pod: ObjectKey, options: DeleteOptions): Promise<void> {
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: pod.name, namespace: pod.namespace },
    deleteOptions: deleteOptions(options),
  };
  await sendWrite(session, {
    info: writeInfo("create", POD, pod, { ...options, subresource: "eviction" }),
    method: "POST",
    path: objectPath(POD, pod, "eviction"),
    body: JSON.stringify(eviction),
    repeatable: "never",
    options,
  });
}

/** Members of metav1.DeleteOptions; those that were not given are left to the server. */
function deleteOptions(options: DeleteOptions): object {
  return {
    propagationPolicy: options.propagationPolicy ?? PROPAGATION_POLICY,
    preconditions: options.preconditions,
    gracePeriodSeconds: options.gracePeriodSeconds,
    dryRun: options.dryRun === true ? ["All"] : undefined,
  };
}
