/** A cache of one kind, kept current by list and watch. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";
import type { Base } from "./objects.ts";

export type Change<T> = (object: T, previous: T | undefined) => void;

export interface Informer<T extends Base> {
  all(): T[];
  get(namespace: string | undefined, name: string): T | undefined;
  /** Called for every change, deletions too (`object` is then the last state). */
  onChange(listener: Change<T>): void;
  /** Takes over the answer to a write, ahead of the watch. */
  note(object: T): void;
  /** Forgets an object that is known to be gone. */
  forget(object: T): void;
  /** Lists once and watches from then on. */
  start(): Promise<void>;
}

interface ListAnswer<T> {
  metadata: { resourceVersion: string };
  items: T[];
}

interface WatchEvent<T> {
  type: string;
  object: T;
}

/** Pause before the next try after a failure, ms. */
const RETRY_MS = 200;

interface Cache<T extends Base> {
  objects: Map<string, T>;
  put(object: T): void;
  drop(object: T): void;
}

const keyOf = ({ metadata }: Base): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function createCache<T extends Base>(listeners: readonly Change<T>[]): Cache<T> {
  const objects = new Map<string, T>();
  const tell = (object: T, previous: T | undefined): void => {
    for (const listener of listeners) listener(object, previous);
  };
  return {
    objects,
    put(object) {
      const previous = objects.get(keyOf(object));
      const version = Number(object.metadata.resourceVersion);
      if (previous !== undefined && Number(previous.metadata.resourceVersion) >= version) return;
      objects.set(keyOf(object), object);
      tell(object, previous);
    },
    drop(object) {
      const previous = objects.get(keyOf(object));
      // an answer to a write may be ahead of the event
      if (previous === undefined || previous.metadata.uid !== object.metadata.uid) return;
      objects.delete(keyOf(object));
      tell(object, previous);
    },
  };
}

export function createInformer<T extends Base>(
  client: TestClient,
  path: string,
  signal: AbortSignal,
): Informer<T> {
  const listeners: Change<T>[] = [];
  const { objects, put, drop } = createCache<T>(listeners);

  const list = async (): Promise<string> => {
    const answer = await client.ok<ListAnswer<T>>("GET", path);
    const present = new Set(answer.items.map(keyOf));
    for (const [key, object] of objects) if (!present.has(key)) drop(object);
    for (const object of answer.items) put(object);
    return answer.metadata.resourceVersion;
  };
  const watch = async (version: string): Promise<void> => {
    const events = client.stream<WatchEvent<T>>(
      `${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${version}`,
      signal,
    );
    for await (const { type, object } of events) {
      if (type === "ERROR") throw new Error("the watch has expired");
      if (type === "DELETED") drop(object);
      else if (type !== "BOOKMARK") put(object);
    }
  };
  /** Every watch begins with a list: simple, and cheap enough for a test. */
  const follow = async (first: string): Promise<void> => {
    let version: string | undefined = first;
    while (!signal.aborted) {
      try {
        await watch(version ?? (await list()));
      } catch {
        if (signal.aborted) return;
        await sleep(RETRY_MS);
      }
      version = undefined;
    }
  };

  return {
    all: () => [...objects.values()],
    get: (namespace, name) => objects.get(`${namespace ?? ""}/${name}`),
    onChange: (listener) => void listeners.push(listener),
    note: put,
    forget: drop,
    async start() {
      const version = await list();
      void follow(version);
    },
  };
}
