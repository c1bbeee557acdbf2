/** A scripted API server in memory: just as much of a `Client` as the cache uses. */
import type { Client, ListOptions, WatchEvent, WatchOptions } from "../client/types.ts";
import type { Kind, KubeList, ObjectKey } from "../object.ts";
import { createFakeObjects, type FakeChange, type FakeObjects } from "./fake-objects.testkit.ts";
import { createFakeWatch, type FakeWatch, type OwnedFakeWatch, present } from "./fake-watch.testkit.ts";
import { errorEvent, type Thing, things } from "./fixtures.testkit.ts";

/** One request as the server saw it. */
export interface Seen {
  verb: "list" | "watch" | "get";
  kind: string;
  options: ListOptions & WatchOptions;
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
  /** Nothing is refused any more. */
  accept(): void;
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

export function fakeServer(): FakeServer {
  const watches = new Set<OwnedFakeWatch>();
  const refusals: { verb: string; error: unknown; times: number }[] = [];
  let held: FakeChange[] | undefined;
  let silent = false;
  const toWatches = (change: FakeChange): void => {
    for (const watch of watches) watch.offer(change);
  };
  const objects = createFakeObjects((change) =>
    held === undefined ? toWatches(change) : void held.push(change),
  );

  const server: Omit<FakeServer, "client"> = {
    seen: [],
    watches: () => [...watches],
    put: (object, kind = things) => objects.put(kind, object),
    remove: (key, kind = things) => objects.remove(kind, key),
    get version() {
      return objects.version;
    },
    refuse: (verb, error, times = 1) => void refusals.push({ verb, error, times }),
    accept: () => void refusals.splice(0),
    hold() {
      held = [];
    },
    release() {
      const late = held ?? [];
      held = undefined;
      late.forEach(toWatches);
    },
    cut() {
      for (const watch of watches) watch.fail(new Error("socket hang up"));
    },
    compact: objects.compact,
    blackhole(on) {
      silent = on;
    },
    minor: 37,
    finishStreams: true,
  };
  const client = fakeClient({
    server,
    objects,
    watches,
    isSilent: () => silent,
    isHeld: (change) => held?.includes(change) ?? false,
    refuseIfTold(verb) {
      const refusal = refusals.find((candidate) => candidate.verb === verb && candidate.times > 0);
      if (refusal === undefined) return;
      refusal.times--;
      throw refusal.error;
    },
  });
  // Not spread: `version` is a getter, and tests change `minor` and `finishStreams`.
  return Object.assign(server, { client });
}

interface Inside {
  server: Omit<FakeServer, "client">;
  objects: FakeObjects;
  watches: Set<OwnedFakeWatch>;
  isSilent(): boolean;
  isHeld(change: FakeChange): boolean;
  /** Throws the error that the test wants the next request of a verb to meet. */
  refuseIfTold(verb: Seen["verb"] | "version"): void;
}

function fakeClient(inside: Inside): Client {
  const { server, objects, refuseIfTold } = inside;
  const partial: Pick<Client, "get" | "serverVersion"> = {
    async get(kind, key) {
      server.seen.push({ verb: "get", kind: kind.plural, options: {} });
      refuseIfTold("get");
      return objects.get(kind, key) as never;
    },
    async serverVersion() {
      refuseIfTold("version");
      return { gitVersion: `v1.${server.minor}.0`, major: 1, minor: server.minor };
    },
  };
  const pages = (kind: Kind, options?: ListOptions) => fakePages(inside, kind, options);
  const watch = (kind: Kind, options: WatchOptions) => fakeEvents(inside, kind, options);
  return { ...partial, pages, watch } as unknown as Client;
}

async function* fakePages(
  { server, objects, refuseIfTold }: Inside,
  kind: Kind,
  options: ListOptions = {},
): AsyncGenerator<KubeList<Thing>> {
  const all = objects.find(kind, options);
  const snapshot = String(objects.version);
  const limit = options.limit === 0 ? all.length : (options.limit ?? 500);
  let token = options.continue;
  do {
    const from = Number(token ?? 0);
    const asked = { ...options, ...(token !== undefined && { continue: token }) };
    server.seen.push({ verb: "list", kind: kind.plural, options: asked });
    refuseIfTold("list");
    const items = all.slice(from, from + limit).map((object) => present(object, options));
    token = from + limit < all.length ? String(from + limit) : undefined;
    const metadata = { resourceVersion: snapshot, ...(token !== undefined && { continue: token }) };
    yield { apiVersion: "test.quartet.io/v1", kind: "List", metadata, items };
  } while (token !== undefined);
}

async function* fakeEvents(
  { server, objects, watches, isSilent, isHeld, refuseIfTold }: Inside,
  kind: Kind,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<Thing>> {
  server.seen.push({ verb: "watch", kind: kind.plural, options });
  refuseIfTold("watch");
  const watch = createFakeWatch(kind, options, {
    isSilent,
    get version() {
      return objects.version;
    },
  });
  if (options.sendInitialEvents === true) {
    for (const object of objects.find(kind, options)) {
      watch.send({ type: "ADDED", object: present(object, options) });
    }
    if (server.finishStreams) watch.endInitialEvents(String(objects.version));
  } else if (options.resourceVersion !== undefined) {
    const changes = objects.since(Number(options.resourceVersion));
    if (changes === undefined) watch.send(errorEvent(410, "too old resource version", "Expired"));
    for (const change of changes ?? []) if (!isHeld(change)) watch.offer(change);
  }
  watches.add(watch);
  try {
    yield* watch.events();
  } finally {
    watches.delete(watch);
  }
}
