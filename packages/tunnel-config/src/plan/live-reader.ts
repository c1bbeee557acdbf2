/** Reads what reconciles look up from the server itself, each kind once: for a command that looks once. */
import {
  type Client,
  type DeepReadonly,
  isNotFound,
  type Kind,
  type KubeObject,
  type ListFilter,
  type ObjectKey,
  type SourceReader,
} from "@quartet/core";

/**
 * @param namespaces those that are read; none means all
 * @param ahead kinds that are read at once: they may be missing in the cluster, and are asked for without waiting
 */
export async function createLiveReader(
  client: Pick<Client, "list" | "get">,
  namespaces: readonly string[],
  ahead: readonly Kind[],
): Promise<SourceReader> {
  const served = new Set<string>();
  const lists = new Map<string, Promise<readonly KubeObject[]>>();
  const read = async (kind: Kind): Promise<readonly KubeObject[]> => {
    const places = kind.namespaced && namespaces.length > 0 ? namespaces : [""];
    try {
      const found = await Promise.all(
        places.map((namespace) => client.list(kind, { limit: 0, ...(namespace !== "" && { namespace }) })),
      );
      served.add(idOf(kind));
      return found.flatMap(({ items }) => items);
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  };
  const listed = (kind: Kind): Promise<readonly KubeObject[]> => {
    const id = idOf(kind);
    const known = lists.get(id) ?? read(kind);
    lists.set(id, known);
    return known;
  };
  await Promise.all(ahead.map(listed));
  const unused = (): never => {
    throw new Error("a command that looks once has no watches");
  };
  return {
    async list<T extends KubeObject>(kind: Kind<T>, filter?: ListFilter) {
      const all = (await listed(kind as Kind)) as readonly DeepReadonly<T>[];
      const { namespace } = filter ?? {};
      return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    },
    async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey) {
      try {
        return (await client.get(kind, key)) as DeepReadonly<T>;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    source: (kind) => ({ everSynced: served.has(idOf(kind as Kind)) }) as never,
    byIndex: unused,
    referred: unused,
  };
}

function idOf({ group, kind }: Kind): string {
  return `${kind}.${group}`;
}
