/** The objects of a fake server, with their history. */

import type { ListOptions, WatchOptions } from "../client/types.ts";
import { type Kind, keyOf, keyToString, type ObjectKey } from "../object.ts";
import { apiError, type Thing } from "./fixtures.testkit.ts";
import { mutable } from "./guard.ts";
import { createMatcher } from "./selectors.ts";

/** A change as watches see it. */
export interface FakeChange {
  version: number;
  kind: Kind;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: Thing;
  old: Thing | undefined;
}

export interface FakeObjects {
  readonly version: number;
  put(kind: Kind, object: Thing): Thing;
  remove(kind: Kind, key: ObjectKey): void;
  /** Throws a 404. */
  get(kind: Kind, key: ObjectKey): Thing;
  /** What a list with these options finds, in order of keys. */
  find(kind: Kind, options: ListOptions | WatchOptions): Thing[];
  /** Changes after a version; `undefined` when that is too old. */
  since(version: number): FakeChange[] | undefined;
  /** Forgets all changes so far. */
  compact(): void;
}

/** `onChange` is told of every change. */
export function createFakeObjects(onChange: (change: FakeChange) => void): FakeObjects {
  const stored = new Map<string, { kind: Kind; object: Thing }>();
  let history: FakeChange[] = [];
  let version = 100;
  let oldest = 0;
  let uids = 0;

  const idOf = (kind: Kind, key: ObjectKey): string => `${kind.plural} ${keyToString(key)}`;
  const get = (kind: Kind, key: ObjectKey): Thing => {
    const found = stored.get(idOf(kind, key));
    if (found === undefined) throw apiError(404);
    return mutable(found.object);
  };
  const record = (change: Omit<FakeChange, "version">): void => {
    const numbered = { ...change, version };
    history.push(numbered);
    onChange(numbered);
  };
  const numbered = (object: Thing, uid: string | undefined): Thing => {
    const copy = mutable(object);
    const resourceVersion = String(++version);
    return { ...copy, metadata: { ...copy.metadata, ...(uid !== undefined && { uid }), resourceVersion } };
  };

  return {
    get version() {
      return version;
    },
    put(kind, object) {
      const id = idOf(kind, keyOf(object));
      const old = stored.get(id)?.object;
      const next = numbered(object, old?.metadata.uid ?? object.metadata.uid ?? `uid-${++uids}`);
      stored.set(id, { kind, object: next });
      record({ kind, type: old === undefined ? "ADDED" : "MODIFIED", object: next, old });
      return mutable(next);
    },
    remove(kind, key) {
      const old = get(kind, key);
      stored.delete(idOf(kind, key));
      record({ kind, type: "DELETED", object: numbered(old, old.metadata.uid), old });
    },
    get,
    find(kind, options) {
      const matches = createMatcher(options);
      return [...stored.values()]
        .filter(({ kind: { plural }, object }) => plural === kind.plural && matches(object))
        .map(({ object }) => object)
        .filter(({ metadata }) => !options.namespace || metadata.namespace === options.namespace)
        .sort((a, b) => (keyToString(keyOf(a)) < keyToString(keyOf(b)) ? -1 : 1));
    },
    since: (from) => (from < oldest ? undefined : history.filter((change) => change.version > from)),
    compact() {
      history = [];
      oldest = version;
    },
  };
}
