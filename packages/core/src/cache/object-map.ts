/** Objects by namespace and name. The two levels make "all of one namespace" free of any further index. */
import type { ObjectKey } from "../object.ts";

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
