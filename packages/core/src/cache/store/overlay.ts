/**
 * This process's own writes, laid over what the watch has brought so far, until the watch has caught up.
 *
 * A cached read right after a write would else return the object as it was before. Entries leave as soon as the watch
 * shows their resource version or a later one, or after a time limit.
 */
import type { Clock } from "../../clock.ts";
import { type KubeObject, keyToString, type ObjectKey } from "../../object.ts";
import { compareVersions, isComparable } from "../resource-version.ts";

/** A watch that is so far behind is broken; then old data beats data that nobody confirms. CORE-185. */
const LIFETIME_MS = 30_000;

type Entry<T extends KubeObject> = { readonly key: ObjectKey; readonly expiresAt: number } & (
  | {
      readonly mode: "written";
      /** Absent: the written object does not belong to what is watched. */
      readonly object: T | undefined;
      readonly uid: string | undefined;
      readonly version: string;
    }
  | { readonly mode: "deleted"; readonly uid: string }
  /** The version cannot be ordered, so only a live read is sure to be current. */
  | { readonly mode: "live"; readonly version: string | undefined }
);

/** What a read has to do about a key. `undefined`: nothing is laid over it. */
export type Overlaid<T extends KubeObject> =
  | { readonly mode: "written"; readonly object: T | undefined }
  | { readonly mode: "deleted" }
  | { readonly mode: "live" };

export interface Overlay<T extends KubeObject> {
  get(key: ObjectKey): Overlaid<T> | undefined;
  /** Keys with an entry. */
  keys(): readonly ObjectKey[];
  readonly size: number;
  /**
   * Records a write. `base` is the watched object now, `position` the version up to which the watch has come. An object
   * that the watch is to leave out, for its selectors, is recorded as `undefined` with its `metadata`.
   */
  written(
    key: ObjectKey,
    write: { object: T | undefined; metadata: KubeObject["metadata"] },
    base: T | undefined,
    position: string | undefined,
  ): void;
  /** Records a deletion; `gone` is the UID of the deleted object where the answer told it. */
  deleted(key: ObjectKey, base: T | undefined, gone?: string): void;
  /** The watch brought an object. */
  sawObject(key: ObjectKey, object: T): void;
  /** The watch brought a deletion. */
  sawDeletion(key: ObjectKey, object: T): void;
  /** The watch has brought everything up to a version. */
  sawPosition(version: string): void;
  /** A list replaced everything; `get` looks into it. */
  sawList(version: string, get: (key: ObjectKey) => T | undefined): void;
  clear(): void;
}

/** Overlay of one list and watch. `onChange` is told each key that may read differently from now on. */
export function createOverlay<T extends KubeObject>(options: {
  clock: Clock;
  onChange: (key: ObjectKey) => void;
  onExpired: (key: ObjectKey) => void;
}): Overlay<T> {
  const { clock } = options;
  const table = createOverlayTable<Entry<T>>(options);

  return {
    get: table.find,
    keys: () => Array.from(table.entries(), (entry) => entry.key),
    get size() {
      return table.size;
    },
    written(key, { object, metadata }, base, position) {
      const expiresAt = clock.monotonic() + LIFETIME_MS;
      const { uid, resourceVersion: version } = metadata;
      if (!isComparable(version) || (base !== undefined && !isComparable(base.metadata.resourceVersion))) {
        table.put({ key, expiresAt, mode: "live", version });
        return;
      }
      const before = table.find(key);
      const isDeleted = before?.mode === "deleted" && before.uid === uid;
      const isOld =
        (before?.mode === "written" && reaches(before.version, version)) ||
        reaches(base?.metadata.resourceVersion, version) ||
        reaches(position, version);
      if (!isDeleted && !isOld) table.put({ key, expiresAt, mode: "written", object, uid, version });
    },
    deleted(key, base, gone) {
      const before = table.find(key);
      const uid = (before?.mode === "written" ? before.uid : undefined) ?? base?.metadata.uid;
      // An object that the cache never saw has nothing to be hidden.
      if (uid === undefined) return;
      // The watch, or a later write, was faster than the answer: another object bears the name by now.
      if (gone !== undefined && gone !== uid) return;
      table.put({ key, expiresAt: clock.monotonic() + LIFETIME_MS, mode: "deleted", uid });
    },
    sawObject(key, object) {
      const entry = table.find(key);
      if (entry !== undefined && isConfirmedBy(entry, object)) table.drop(entry);
    },
    sawDeletion(key, object) {
      const entry = table.find(key);
      if (entry !== undefined && isEndedBy(entry, object)) table.drop(entry);
    },
    sawPosition(version) {
      // Versions are nearly in the order of writing; what is out of order goes with its own event.
      for (const entry of table.entries()) {
        if (entry.mode !== "written" || !reaches(version, entry.version)) return;
        table.drop(entry);
      }
    },
    sawList(version, get) {
      for (const entry of [...table.entries()]) {
        if (isConfirmedByList(entry, version, get(entry.key))) table.drop(entry);
      }
    },
    clear: table.clear,
  };
}

/** True when `version` is known to be as new as `wanted`. */
function reaches(version: string | undefined, wanted: string): boolean {
  const order = compareVersions(version, wanted);
  return order !== undefined && order >= 0;
}

function isConfirmedBy<T extends KubeObject>(entry: Entry<T>, object: T): boolean {
  const { uid, resourceVersion } = object.metadata;
  switch (entry.mode) {
    case "written":
      return !isComparable(resourceVersion) || reaches(resourceVersion, entry.version);
    case "deleted":
      return uid !== entry.uid;
    case "live":
      return resourceVersion === entry.version;
  }
}

/** A deletion ends every entry but that of a later object of the same name. */
function isEndedBy<T extends KubeObject>(entry: Entry<T>, deleted: T): boolean {
  if (entry.mode !== "written" || entry.uid === deleted.metadata.uid) return true;
  return reaches(deleted.metadata.resourceVersion, entry.version);
}

function isConfirmedByList<T extends KubeObject>(
  entry: Entry<T>,
  version: string,
  listed: T | undefined,
): boolean {
  if (entry.mode === "written") return reaches(version, entry.version);
  return listed === undefined ? entry.mode === "deleted" : isConfirmedBy(entry, listed);
}

/** An entry that goes by itself after a time. */
interface Timed {
  readonly key: ObjectKey;
  /** Monotonic time. */
  readonly expiresAt: number;
}

/** Entries by their keys. */
interface OverlayTable<E extends Timed> {
  find(key: ObjectKey): E | undefined;
  /** In the order in which they were put, hence of their expiry. */
  entries(): Iterable<E>;
  readonly size: number;
  /** Replaces the entry of its key. Must not expire before an entry that was put earlier. */
  put(entry: E): void;
  drop(entry: E): void;
  clear(): void;
}

/** `onChange` is told of each key whose entry came, changed or went; `onExpired` of each that went by time. */
function createOverlayTable<E extends Timed>(options: {
  clock: Clock;
  onChange: (key: ObjectKey) => void;
  onExpired: (key: ObjectKey) => void;
}): OverlayTable<E> {
  const { clock, onChange, onExpired } = options;
  const entries = new Map<string, E>();
  let cancel: (() => void) | undefined;

  const disarm = (): void => {
    cancel?.();
    cancel = undefined;
  };
  /** One timer, for the entry that expires first. */
  const arm = (): void => {
    const { value: first } = entries.values().next();
    if (first === undefined || cancel !== undefined) return;
    cancel = clock.setTimer(first.expiresAt - clock.monotonic(), expire, { unref: true });
  };
  const drop = (entry: E): void => {
    entries.delete(keyToString(entry.key));
    if (entries.size === 0) disarm();
    onChange(entry.key);
  };
  const expire = (): void => {
    cancel = undefined;
    for (const entry of entries.values()) {
      if (entry.expiresAt > clock.monotonic()) break;
      drop(entry);
      onExpired(entry.key);
    }
    arm();
  };

  return {
    find: (key) => (entries.size === 0 ? undefined : entries.get(keyToString(key))),
    entries: () => entries.values(),
    get size() {
      return entries.size;
    },
    put(entry) {
      const id = keyToString(entry.key);
      entries.delete(id);
      entries.set(id, entry);
      arm();
      onChange(entry.key);
    },
    drop,
    clear() {
      entries.clear();
      disarm();
    },
  };
}
