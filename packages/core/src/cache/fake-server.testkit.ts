/** A scripted API server in memory: just as much of a `Client` as the cache uses. */
import type { Client, ListOptions, WatchEvent, WatchOptions } from "../client/types.ts";
import { type Kind, type KubeList, keyOf, keyToString, type ObjectKey } from "../object.ts";
import { apiError, errorEvent, type Thing, things } from "./fixtures.testkit.ts";
import { createMatcher } from "./selectors.ts";

/** One request as the server saw it. */
export interface Seen {
  verb: "list" | "watch" | "get";
  kind: string;
  options: ListOptions & WatchOptions;
}

/** An open watch, to be steered by hand. */
export interface FakeWatch {
  readonly options: WatchOptions;
  readonly open: boolean;
  send(event: WatchEvent<Thing>): void;
  /** Bytes without an event. */
  bytes(): void;
  bookmark(version?: string): void;
  /** Regular end. */
  end(): void;
  fail(error: unknown): void;
}

export interface FakeServer {
  readonly client: Client;
  readonly seen: Seen[];
  /** Open watches. */
  watches(): FakeWatch[];
  /** Creates or updates; returns what is stored. */
  put(object: Thing, kind?: Kind): Thing;
  remove(key: ObjectKey, kind?: Kind): void;
  readonly version: number;
  /** The next `times` requests of a verb fail. */
  refuse(verb: Seen["verb"] | "version", error: unknown, times?: number): void;
  /** Events of changes made from now on reach no watch until `release`. */
  hold(): void;
  release(): void;
  /** Breaks all watches; what happens after that is not seen by them. */
  cut(): void;
  /** Forgets all events so far: watches from older versions get 410. */
  compact(): void;
  /** Watches stay open and nothing comes through any more. */
  blackhole(on: boolean): void;
  /** Minor version of the server. Default 37. */
  minor: number;
  /** Streaming lists end with their bookmark. Default true. */
  finishStreams: boolean;
}

interface Stored {
  kind: Kind;
  object: Thing;
}

interface Change {
  version: number;
  kind: Kind;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: Thing;
  old: Thing | undefined;
}

interface OpenWatch extends FakeWatch {
  readonly kind: Kind;
  offer(change: Change): void;
}

export function fakeServer(): FakeServer {
  const objects = new Map<string, Stored>();
  const watches = new Set<OpenWatch>();
  const refusals: { verb: string; error: unknown; times: number }[] = [];
  const seen: Seen[] = [];
  let history: Change[] = [];
  let held: Change[] | undefined;
  let version = 100;
  let oldest = 0;
  let silent = false;
  let uids = 0;

  const idOf = (kind: Kind, key: ObjectKey): string => `${kind.plural} ${keyToString(key)}`;
  const copy = <V>(value: V): V => structuredClone(value);
  const refused = (verb: string): void => {
    const refusal = refusals.find((candidate) => candidate.verb === verb && candidate.times > 0);
    if (refusal === undefined) return;
    refusal.times--;
    throw refusal.error;
  };
  const record = (change: Change): void => {
    history.push(change);
    if (held !== undefined) held.push(change);
    else for (const watch of watches) watch.offer(change);
  };
  const present = (object: Thing, metadataOnly: boolean | undefined): Thing =>
    metadataOnly === true
      ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: copy(object.metadata) }
      : copy(object);
  const matching = (kind: Kind, options: ListOptions | WatchOptions): Thing[] => {
    const matches = createMatcher(options);
    return [...objects.values()]
      .filter((stored) => stored.kind.plural === kind.plural && matches(stored.object))
      .map(({ object }) => object)
      .filter(({ metadata }) => !options.namespace || metadata.namespace === options.namespace)
      .sort((a, b) => (keyToString(keyOf(a)) < keyToString(keyOf(b)) ? -1 : 1));
  };

  async function* pages(kind: Kind, options: ListOptions = {}): AsyncGenerator<KubeList<Thing>> {
    const all = matching(kind, options);
    const snapshot = String(version);
    const limit = options.limit === 0 ? all.length : (options.limit ?? 500);
    let from = options.continue === undefined ? 0 : Number(options.continue);
    let token = options.continue;
    do {
      seen.push({
        verb: "list",
        kind: kind.plural,
        options: { ...options, ...(token !== undefined && { continue: token }) },
      });
      refused("list");
      const items = all.slice(from, from + limit).map((object) => present(object, options.metadataOnly));
      from += limit;
      token = from < all.length ? String(from) : undefined;
      const metadata = { resourceVersion: snapshot, ...(token !== undefined && { continue: token }) };
      yield { apiVersion: "test.quartet.io/v1", kind: "List", metadata, items };
    } while (token !== undefined);
  }

  async function* watch(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent<Thing>> {
    seen.push({ verb: "watch", kind: kind.plural, options });
    refused("watch");
    const queue: (() => WatchEvent<Thing> | undefined)[] = [];
    const from = options.resourceVersion === undefined ? undefined : Number(options.resourceVersion);
    let wake: () => void = () => {};
    let isOpen = true;
    const push = (item: () => WatchEvent<Thing> | undefined): void => {
      if (silent) return;
      options.onBytes?.();
      queue.push(item);
      wake();
    };
    const matches = createMatcher(options);
    const offer = ({ kind: of, type, object, old }: Change): void => {
      if (of.plural !== kind.plural) return;
      if (options.namespace && object.metadata.namespace !== options.namespace) return;
      const was = old !== undefined && matches(old);
      const is = type !== "DELETED" && matches(object);
      if (!was && !is) return;
      const seenAs = is ? (was ? "MODIFIED" : "ADDED") : "DELETED";
      push(() => ({ type: seenAs, object: present(object, options.metadataOnly) }));
    };
    const bookmark = (at: string, initialEnd: boolean): WatchEvent<Thing> => {
      const annotations = initialEnd ? { "k8s.io/initial-events-end": "true" } : undefined;
      const metadata = { resourceVersion: at, ...(annotations && { annotations }) };
      return { type: "BOOKMARK", object: { apiVersion: "test.quartet.io/v1", kind: "Thing", metadata } };
    };
    const me: OpenWatch = {
      kind,
      options,
      offer,
      get open() {
        return isOpen;
      },
      send: (event) => push(() => event),
      bytes: () => {
        if (!silent) options.onBytes?.();
      },
      bookmark: (at = String(version)) => push(() => bookmark(at, false)),
      end: () => push(() => undefined),
      fail: (error) =>
        push(() => {
          throw error;
        }),
    };
    if (options.sendInitialEvents === true) {
      for (const object of matching(kind, options)) {
        push(() => ({ type: "ADDED", object: present(object, options.metadataOnly) }));
      }
      const at = String(version);
      if (server.finishStreams) push(() => bookmark(at, true));
    } else if (from !== undefined && from < oldest) {
      push(() => errorEvent(410, "too old resource version", "Expired"));
    } else
      for (const change of history)
        if (from !== undefined && change.version > from && !held?.includes(change)) offer(change);

    watches.add(me);
    const onAbort = (): void => wake();
    options.signal?.addEventListener("abort", onAbort);
    try {
      for (;;) {
        options.signal?.throwIfAborted();
        const item = queue.shift();
        if (item === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        const event = item();
        if (event === undefined) return;
        yield event;
      }
    } finally {
      isOpen = false;
      watches.delete(me);
      options.signal?.removeEventListener("abort", onAbort);
    }
  }

  const client = {
    pages,
    watch,
    async get(kind: Kind, key: ObjectKey): Promise<Thing> {
      seen.push({ verb: "get", kind: kind.plural, options: {} });
      refused("get");
      const stored = objects.get(idOf(kind, key));
      if (stored === undefined) throw apiError(404);
      return copy(stored.object);
    },
    async serverVersion() {
      refused("version");
      return { gitVersion: `v1.${server.minor}.0`, major: 1, minor: server.minor };
    },
  } as unknown as Client;

  const server: FakeServer = {
    client,
    seen,
    watches: () => [...watches],
    put(object, kind = things) {
      const id = idOf(kind, keyOf(object));
      const old = objects.get(id)?.object;
      version++;
      const uid = old?.metadata.uid ?? object.metadata.uid ?? `uid-${++uids}`;
      const stored = {
        ...copy(object),
        metadata: { ...copy(object.metadata), uid, resourceVersion: String(version) },
      };
      objects.set(id, { kind, object: stored });
      record({ version, kind, type: old === undefined ? "ADDED" : "MODIFIED", object: stored, old });
      return copy(stored);
    },
    remove(key, kind = things) {
      const id = idOf(kind, key);
      const old = objects.get(id)?.object;
      if (old === undefined) throw new Error(`no ${id}`);
      objects.delete(id);
      version++;
      const last = { ...copy(old), metadata: { ...old.metadata, resourceVersion: String(version) } };
      record({ version, kind, type: "DELETED", object: last, old });
    },
    get version() {
      return version;
    },
    refuse(verb, error, times = 1) {
      refusals.push({ verb, error, times });
    },
    hold() {
      held = [];
    },
    release() {
      const late = held ?? [];
      held = undefined;
      for (const change of late) for (const watch of watches) watch.offer(change);
    },
    cut() {
      for (const watch of watches) watch.fail(new Error("socket hang up"));
    },
    compact() {
      history = [];
      oldest = version;
    },
    blackhole(on) {
      silent = on;
    },
    minor: 37,
    finishStreams: true,
  };
  return server;
}
