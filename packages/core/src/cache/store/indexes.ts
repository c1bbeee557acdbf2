/** Named indexes over cached objects. */
import { type KubeObject, keyToString, type ObjectKey } from "../../object.ts";

export type IndexFn<T extends KubeObject> = (object: T) => readonly string[];

interface Index<T extends KubeObject> {
  readonly fn: IndexFn<T>;
  /** Hears of objects that the function cannot take. */
  readonly onError: ((error: IndexError) => void) | undefined;
  readonly keysByValue: Map<string, Map<string, ObjectKey>>;
  /** Values under which each object stands, to find its old entries again. */
  readonly valuesByKey: Map<string, readonly string[]>;
}

/** An index function threw. */
export class IndexError extends Error {
  override readonly name = "IndexError";

  constructor(index: string, resource: string, key: ObjectKey, cause: unknown) {
    super(`index ${JSON.stringify(index)} of ${resource} failed for ${keyToString(key)}: ${String(cause)}`, {
      cause,
    });
  }
}

export interface Indexes<T extends KubeObject> {
  has(name: string): boolean;
  /** The function of an index, to tell a second registration from a clash. */
  fn(name: string): IndexFn<T> | undefined;
  /** Adds an index and fills it. Throws `IndexError`, and then adds nothing. */
  add(
    name: string,
    fn: IndexFn<T>,
    objects: Iterable<readonly [ObjectKey, T]>,
    onError?: (error: IndexError) => void,
  ): void;
  remove(name: string): void;
  keys(name: string, value: string): Iterable<ObjectKey>;
  /** Indexes an object anew; `undefined` removes it. Where a function throws, the object is left out. */
  set(key: ObjectKey, object: T | undefined): void;
  clear(): void;
}

/** Indexes of one informer; `onError` hears of functions that throw on later objects. */
export function createIndexes<T extends KubeObject>(options: {
  resource: string;
  /** `owned`: somebody else hears of it as well. */
  onError: (error: IndexError, key: ObjectKey, owned: boolean) => void;
}): Indexes<T> {
  const { resource, onError } = options;
  const indexes = new Map<string, Index<T>>();

  const valuesOf = (name: string, fn: IndexFn<T>, key: ObjectKey, object: T): readonly string[] => {
    try {
      return fn(object);
    } catch (error) {
      throw new IndexError(name, resource, key, error);
    }
  };
  const tryValuesOf = (name: string, index: Index<T>, key: ObjectKey, object: T): readonly string[] => {
    try {
      return valuesOf(name, index.fn, key, object);
    } catch (error) {
      onError(error as IndexError, key, index.onError !== undefined);
      index.onError?.(error as IndexError);
      return [];
    }
  };

  return {
    has: (name) => indexes.has(name),
    fn: (name) => indexes.get(name)?.fn,
    add(name, fn, objects, onError) {
      const index: Index<T> = { fn, onError, keysByValue: new Map(), valuesByKey: new Map() };
      for (const [key, object] of objects) place(index, key, valuesOf(name, fn, key, object));
      indexes.set(name, index);
    },
    remove: (name) => void indexes.delete(name),
    keys: (name, value) => indexes.get(name)?.keysByValue.get(value)?.values() ?? [],
    set(key, object) {
      for (const [name, index] of indexes) {
        place(index, key, object === undefined ? [] : tryValuesOf(name, index, key, object));
      }
    },
    clear() {
      for (const index of indexes.values()) {
        index.keysByValue.clear();
        index.valuesByKey.clear();
      }
    },
  };
}

function place<T extends KubeObject>(index: Index<T>, key: ObjectKey, values: readonly string[]): void {
  const id = keyToString(key);
  const before = index.valuesByKey.get(id) ?? [];
  if (before.length === values.length && before.every((value, i) => value === values[i])) return;
  for (const value of before) {
    const keys = index.keysByValue.get(value);
    keys?.delete(id);
    if (keys?.size === 0) index.keysByValue.delete(value);
  }
  for (const value of values) {
    let keys = index.keysByValue.get(value);
    if (keys === undefined) {
      keys = new Map();
      index.keysByValue.set(value, keys);
    }
    keys.set(id, key);
  }
  if (values.length === 0) index.valuesByKey.delete(id);
  else index.valuesByKey.set(id, values);
}
