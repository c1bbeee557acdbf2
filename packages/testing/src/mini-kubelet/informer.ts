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

export function createInformer<T extends Base>(
  client: TestClient,
  path: string,
  signal: AbortSignal,
): Informer<T> {
  const objects = new Map<string, T>();
  const listeners: Change<T>[] = [];
  const keyOf = ({ metadata }: Base): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  const tell = (object: T, previous: T | undefined): void => {
    for (const listener of listeners) listener(object, previous);
  };
  const put = (object: T): void => {
    const key = keyOf(object);
    const previous = objects.get(key);
    if (
      previous !== undefined &&
      Number(previous.metadata.resourceVersion) >= Number(object.metadata.resourceVersion)
    ) {
      return;
    }
    objects.set(key, object);
    tell(object, previous);
  };
  const drop = (object: T): void => {
    const key = keyOf(object);
    const previous = objects.get(key);
    // an answer to a write may be ahead of the event
    if (previous === undefined || previous.metadata.uid !== object.metadata.uid) return;
    objects.delete(key);
    tell(object, previous);
  };

  const list = async (): Promise<string> => {
    const answer = await client.ok<ListAnswer<T>>("GET", path);
    const present = new Set(answer.items.map(keyOf));
    for (const [key, object] of objects) if (!present.has(key)) drop(object);
    for (const object of answer.items) put(object);
    return answer.metadata.resourceVersion;
  };
  const watch = async (from: string): Promise<void> => {
    let version = from;
    const events = client.stream<WatchEvent<T>>(
      `${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${version}`,
      signal,
    );
    for await (const { type, object } of events) {
      if (type === "ERROR") throw new Error("the watch has expired");
      version = object.metadata.resourceVersion;
      if (type === "DELETED") drop(object);
      else if (type !== "BOOKMARK") put(object);
    }
  };
  const follow = async (first: string): Promise<void> => {
    let version: string | undefined = first;
    while (!signal.aborted) {
      try {
        version ??= await list();
        await watch(version);
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
