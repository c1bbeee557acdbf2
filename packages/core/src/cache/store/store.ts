/** Objects of one list and watch, and what each step of them changed. */
import { type KubeObject, keyOf, type ObjectKey } from "../../object.ts";
import { compareVersions } from "../resource-version.ts";

/** A difference between two states of a store. */
export type Change<T extends KubeObject> =
  | { readonly type: "add"; readonly key: ObjectKey; readonly object: T }
  | { readonly type: "update"; readonly key: ObjectKey; readonly object: T; readonly old: T }
  /** `stale`: the deletion itself was missed. */
  | { readonly type: "delete"; readonly key: ObjectKey; readonly object: T; readonly stale: boolean };

export interface Store<T extends KubeObject> {
  readonly objects: Omit<ObjectMap<T>, "set" | "delete" | "clear">;
  /** `undefined` when the store already holds this version or a newer one. */
  upsert(object: T): Change<T> | undefined;
  /** `undefined` when there is nothing to delete, or only a newer object. */
  remove(object: T): Change<T> | undefined;
  /**
   * Takes over a whole new state at once. Objects of an unchanged resource version make no change, and keep their
   * identity unless `renew` is set. Deletions come after adds and updates; last come adds of objects whose name
   * another one had before, which is a deletion that was missed.
   */
  replace(next: ObjectMap<T>, renew?: boolean): Change<T>[];
  clear(): void;
}

export function createStore<T extends KubeObject>(): Store<T> {
  let objects = createObjectMap<T>();

  return {
    get objects() {
      return objects;
    },
    upsert(object) {
      const key = keyOf(object);
      const old = objects.get(key);
      if (old !== undefined && !isNewer(object, old)) return undefined;
      objects.set(key, object);
      return old === undefined ? { type: "add", key, object } : { type: "update", key, object, old };
    },
    remove(object) {
      const key = keyOf(object);
      const old = objects.get(key);
      if (old === undefined) return undefined;
      const order = compareVersions(object.metadata.resourceVersion, old.metadata.resourceVersion);
      if (order !== undefined && order < 0) return undefined;
      objects.delete(key);
      return { type: "delete", key, object, stale: false };
    },
    replace(next, renew = false) {
      const before = objects;
      objects = next;
      const changes: Change<T>[] = [];
      const replaced: Change<T>[] = [];
      for (const object of next.values()) {
        const key = keyOf(object);
        const old = before.get(key);
        if (old === undefined) changes.push({ type: "add", key, object });
        else if (old.metadata.uid !== object.metadata.uid) replaced.push({ type: "add", key, object });
        else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) {
          changes.push({ type: "update", key, object, old });
        } else if (!renew) next.set(key, old);
      }
      for (const object of before.values()) {
        const key = keyOf(object);
        const now = next.get(key);
        if (now === undefined || now.metadata.uid !== object.metadata.uid) {
          changes.push({ type: "delete", key, object, stale: true });
        }
      }
      return [...changes, ...replaced];
    },
    clear: () => objects.clear(),
  };
}

/** Versions that cannot be ordered are newer when they differ. */
function isNewer(object: KubeObject, old: KubeObject): boolean {
  const order = compareVersions(object.metadata.resourceVersion, old.metadata.resourceVersion);
  return order === undefined ? object.metadata.resourceVersion !== old.metadata.resourceVersion : order > 0;
}

/** Values by namespace and name. The two levels make "all of one namespace" free of any further index. */
export interface ObjectMap<T> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  set(key: ObjectKey, object: T): void;
  delete(key: ObjectKey): boolean;
  /** Objects of one namespace, or all. */
  values(namespace?: string): Iterable<T>;
  clear(): void;
}

export function createObjectMap<T>(): ObjectMap<T> {
  const byNamespace = new Map<string, Map<string, T>>();
  let size = 0;

  return {
    get size() {
      return size;
    },
    get: (key) => byNamespace.get(key.namespace)?.get(key.name),
    set(key, object) {
      let objects = byNamespace.get(key.namespace);
      if (objects === undefined) {
        objects = new Map();
        byNamespace.set(key.namespace, objects);
      }
      const before = objects.size;
      objects.set(key.name, object);
      size += objects.size - before;
    },
    delete(key) {
      const objects = byNamespace.get(key.namespace);
      if (objects === undefined || !objects.delete(key.name)) return false;
      if (objects.size === 0) byNamespace.delete(key.namespace);
      size--;
      return true;
    },
    values: (namespace) =>
      namespace === undefined ? all(byNamespace) : (byNamespace.get(namespace)?.values() ?? []),
    clear() {
      byNamespace.clear();
      size = 0;
    },
  };
}

function* all<T>(byNamespace: Map<string, Map<string, T>>): Iterable<T> {
  for (const objects of byNamespace.values()) yield* objects.values();
}
