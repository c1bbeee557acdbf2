/** Entries that live for a limited time, by object key. */
import type { Clock } from "../clock.ts";
import { keyToString, type ObjectKey } from "../object.ts";

interface Timed {
  readonly key: ObjectKey;
  /** Monotonic time. */
  readonly expiresAt: number;
}

export interface OverlayTable<E extends Timed> {
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
export function createOverlayTable<E extends Timed>(options: {
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
