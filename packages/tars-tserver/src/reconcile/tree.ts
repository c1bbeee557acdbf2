/** Applications of all servers stand in the tree of their namespace. */
import { type Clock, isConflict, keyOf, mutable, type Reconcile, seconds } from "@quartet/core";
import { FIELD_MANAGER } from "../identity.ts";
import { T_TREE } from "../kinds.ts";
import { TREE_NAME } from "../labels.ts";
import type { Lookups } from "../sources.ts";

/** Who put an application into the tree. */
const MARK = "AddByController";
/** Tries when others write the tree at the same time. */
const MAX_TRIES = 5;
/** Limits of the schema; an application that does not fit cannot be in a tree. */
const MAX_EVENTS_OF_MISSING = 1;

export interface TreeParts {
  readonly lookups: (signal: AbortSignal) => Promise<Lookups>;
  readonly clock: Clock;
}

/** The reconcile of a namespace's tree; applications are only ever added. */
export function createTreeReconcile({ lookups, clock }: TreeParts): Reconcile {
  /** Namespaces without a tree of which was told. */
  const told = new Set<string>();
  return async (key, { client, signal, events }) => {
    const cache = await lookups(signal);
    const servers = cache.serversOf(key.namespace);
    let tree = cache.tree(key.namespace);
    if (tree === undefined || tree.metadata.deletionTimestamp !== undefined) {
      const [server] = servers;
      if (server === undefined) told.delete(key.namespace);
      else if (!told.has(key.namespace)) {
        told.add(key.namespace);
        const note = `namespace ${key.namespace} has no TTree ${TREE_NAME}; create it to see its applications in the console`;
        for (const one of servers.slice(0, MAX_EVENTS_OF_MISSING)) {
          events.record(one, { type: "Warning", reason: "TreeMissing", note });
        }
      }
      return;
    }
    told.delete(key.namespace);
    const apps = new Set(servers.map(({ spec }) => spec.app));
    for (let tries = 1; ; tries += 1) {
      const known = new Set(tree.apps.map(({ name }) => name));
      const missing = [...apps].filter((app) => !known.has(app)).sort();
      if (missing.length === 0) return;
      const createTime = seconds(clock.now());
      const added = missing.map((name) => ({
        name,
        businessRef: "",
        createPerson: "",
        createTime,
        mark: MARK,
      }));
      const body = {
        metadata: { resourceVersion: tree.metadata.resourceVersion },
        apps: [...mutable(tree).apps, ...added],
      };
      try {
        await client.patch(
          T_TREE,
          keyOf(tree),
          { type: "merge", body },
          { signal, fieldManager: FIELD_MANAGER },
        );
        return;
      } catch (error) {
        if (!isConflict(error) || tries >= MAX_TRIES) throw error;
        tree = await client.get(T_TREE, keyOf(tree), { signal });
      }
    }
  };
}
