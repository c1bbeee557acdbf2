/** The requests of a reflector: opens what a phase of the state machine needs and turns it into inputs. */
import { collectionPath } from "../../client/paths.ts";
import type { Client, ListOptions, WatchEvent, WatchOptions } from "../../client/types.ts";
import type { Clock } from "../../clock.ts";
import type { Kind, KubeList, KubeObject } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import type { CacheObserver } from "../observer.ts";
import { errorOfEvent } from "./faults.ts";
import type { Input, ListingPhase, Phase } from "./machine-types.ts";
import type { Permits } from "./permits.ts";
import { type SilenceLimits, startWatchdog } from "./watchdog.ts";

/** The server ends a watch after a random time between these, so that not all end at once. CORE-165. */
const MIN_WATCH_SECONDS = 300;
const MAX_WATCH_SECONDS = 600;
/** The watch of a busy kind gets a bookmark every 60 s, so 75 s without a byte are suspicious. Decision D6. */
const WATCH_LIMITS: SilenceLimits = { abortAfterMs: 75_000 };
/** For the initial events of a streaming list, which end with a bookmark. CORE-162. */
const STREAMING_LIMITS: SilenceLimits = { abortAfterMs: 120_000, warnAfterMs: 60_000, warnEveryMs: 10_000 };

/** What is listed and watched. */
export interface Collection<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** `""` for all. */
  readonly namespace: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly: boolean;
}

export interface RequestsOptions<T extends KubeObject> {
  collection: Collection<T>;
  client: Client;
  clock: Clock;
  log: Logger;
  random: () => number;
  observer: CacheObserver;
  /** For the pages of lists that are in memory, of all reflectors of a cache. */
  pages: Permits;
}

export type RequestPhase = Extract<Phase, { name: "streaming" | "listing" | "watching" }>;

export interface Requests<T extends KubeObject> {
  /** Waits for the next input of a phase. `version` is where a watch starts. Never rejects. */
  next(phase: RequestPhase, version: string | undefined): Promise<Input<T>>;
  /** Ends the request that is open, if any. */
  close(): void;
  /** Monotonic time of the last byte from the server. */
  readonly lastContact: number;
}

/** A request that is open; each call of `next` waits for one input. */
interface OpenRequest<T extends KubeObject> {
  readonly of: "pages" | "stream";
  next(): Promise<Input<T>>;
  close(): void;
}

interface Hooks {
  /** A sign of life. */
  contact: () => void;
  /** Silence that the current phase puts up with. */
  limits: () => SilenceLimits;
}

/** Requests of one reflector: at most one is open at a time, and it stays open while its phases follow each other. */
export function createRequests<T extends KubeObject>(options: RequestsOptions<T>): Requests<T> {
  const { clock } = options;
  let open: OpenRequest<T> | undefined;
  let phase: RequestPhase;
  let lastContact = clock.monotonic();

  const hooks: Hooks = {
    contact() {
      lastContact = clock.monotonic();
    },
    limits: () => (phase.name === "streaming" ? STREAMING_LIMITS : WATCH_LIMITS),
  };
  const close = (): void => {
    open?.close();
    open = undefined;
  };
  const requestFor = (now: RequestPhase, version: string | undefined): OpenRequest<T> => {
    const of = now.name === "listing" ? "pages" : "stream";
    if (open?.of !== of) {
      close();
      open =
        now.name === "listing" ? openPages(options, now, hooks) : openStream(options, now, version, hooks);
    }
    return open;
  };

  return {
    async next(now, version) {
      phase = now;
      let input: Input<T>;
      try {
        input = await requestFor(now, version).next();
      } catch (error) {
        input = { type: "failed", error };
      }
      if (input.type !== "event" && input.type !== "page") close();
      return input;
    },
    close,
    get lastContact() {
      return lastContact;
    },
  };
}

function openPages<T extends KubeObject>(
  { client, collection, pages }: RequestsOptions<T>,
  phase: ListingPhase,
  { contact }: Hooks,
): OpenRequest<T> {
  const options: ListOptions = { ...scopeOf(collection), limit: phase.limit };
  if (phase.token !== undefined) options.continue = phase.token;
  else if (phase.atLeast !== undefined) {
    options.resourceVersion = phase.atLeast;
    options.resourceVersionMatch = "NotOlderThan";
  } else if (phase.anyVersion) options.resourceVersion = "0";
  const connection = connect<KubeList<T>>((signal) => client.pages(collection.kind, { ...options, signal }));
  const closing = new AbortController();
  let release = (): void => {};
  return {
    of: "pages",
    async next() {
      // By now the page before has been taken over.
      release();
      release = await pages.take(closing.signal);
      if (closing.signal.aborted) release();
      const page = await connection.next();
      contact();
      return page === undefined ? { type: "ended" } : { type: "page", page };
    },
    close() {
      closing.abort(new Error("the reflector closed the list"));
      connection.close();
      release();
    },
  };
}

function openStream<T extends KubeObject>(
  request: RequestsOptions<T>,
  phase: Exclude<RequestPhase, ListingPhase>,
  version: string | undefined,
  { contact, limits }: Hooks,
): OpenRequest<T> {
  const { client, collection, clock, log } = request;
  const options = watchOptions(request, phase, version);
  if (phase.name === "watching") request.observer.watch?.(collection.kind);
  const onBytes = (): void => {
    contact();
    watchdog.touch();
  };
  const connection = connect<WatchEvent<T>>((signal) =>
    client.watch(collection.kind, { ...options, signal, onBytes }),
  );
  let silent = false;
  const watchdog = startWatchdog({
    clock,
    limits,
    onWarn: (silentMs) =>
      log.warn("streaming list is silent", { silentSeconds: Math.round(silentMs / 1000) }),
    onAbort() {
      silent = true;
      connection.close();
    },
  });
  return {
    of: "stream",
    async next() {
      try {
        const event = await connection.next();
        if (event !== undefined) return eventInput(event, collection);
        return { type: silent ? "silent" : "ended" };
      } catch (error) {
        return silent ? { type: "silent" } : { type: "failed", error };
      }
    },
    close() {
      watchdog.stop();
      connection.close();
    },
  };
}

function watchOptions<T extends KubeObject>(
  { collection, random }: RequestsOptions<T>,
  phase: Exclude<RequestPhase, ListingPhase>,
  version: string | undefined,
): WatchOptions {
  const isStreaming = phase.name === "streaming";
  const from = isStreaming ? phase.atLeast : version;
  return {
    ...scopeOf(collection),
    timeoutSeconds: Math.round(MIN_WATCH_SECONDS + random() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS)),
    ...(isStreaming && { sendInitialEvents: true }),
    ...(from !== undefined && { resourceVersion: from }),
  };
}

function eventInput<T extends KubeObject>(event: WatchEvent<T>, collection: Collection<T>): Input<T> {
  if (event.type !== "ERROR") return { type: "event", event };
  const path = collectionPath(collection.kind, collection.namespace);
  return { type: "failed", error: errorOfEvent(event.object, path) };
}

function scopeOf<T extends KubeObject>(
  collection: Collection<T>,
): Pick<WatchOptions, "namespace" | "labelSelector" | "fieldSelector" | "metadataOnly"> {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = collection;
  return {
    ...(namespace !== "" && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly && { metadataOnly }),
  };
}

/** One open list or watch: an iterator that can be ended from outside. */
interface Connection<V> {
  /** Next value; `undefined` at the regular end. Rejects when the request failed or {@link Connection.close} ended it. */
  next(): Promise<V | undefined>;
  /** Ends the request and frees its socket. */
  close(): void;
}

/** Opens a request. `open` gets the signal that ends it. */
function connect<V>(open: (signal: AbortSignal) => AsyncIterable<V>): Connection<V> {
  const controller = new AbortController();
  const iterator = open(controller.signal)[Symbol.asyncIterator]();
  return {
    async next() {
      const result = await iterator.next();
      return result.done ? undefined : result.value;
    },
    close() {
      controller.abort(new Error("the reflector closed the request"));
      // The generator may be suspended between two values and would never see the signal.
      iterator.return?.().catch(() => {});
    },
  };
}
