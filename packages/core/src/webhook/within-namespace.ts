/** Reads of a webhook's handler: what it answers must tell nobody of a namespace that is not theirs. */
import type { SourceReader } from "../controller/types.ts";

/** Cached reads of a handler. */
export type AdmissionReader = Pick<SourceReader, "get" | "list" | "byIndex">;

/**
 * The reader, kept to the namespace of a request and to cluster-scoped kinds. Requests about cluster-scoped objects have
 * no namespace: whoever may make them is an administrator, and everything may be read for them.
 */
export function withinNamespace(
  { get, list, byIndex }: AdmissionReader,
  namespace: string | undefined,
): AdmissionReader {
  if (!namespace) return { get, list, byIndex };
  const refuse = (what: string): never => {
    throw new Error(`${what}: a webhook reads in the namespace of its request alone, which is ${namespace}`);
  };
  return {
    async get(kind, key) {
      if (kind.namespaced && key.namespace !== namespace)
        refuse(`${kind.plural} ${key.namespace}/${key.name}`);
      return get(kind, key);
    },
    async list(kind, filter = {}) {
      if (!kind.namespaced) return list(kind, filter);
      if ((filter.namespace ?? namespace) !== namespace) refuse(`${kind.plural} of ${filter.namespace}`);
      return list(kind, { ...filter, namespace });
    },
    byIndex(kind, index, value) {
      const found = byIndex(kind, index, value);
      return kind.namespaced ? found.filter(({ metadata }) => metadata.namespace === namespace) : found;
    },
  };
}
