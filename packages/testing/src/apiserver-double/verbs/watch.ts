/** Watches: past events, initial state, transitions of selectors, bookmarks, deadlines. */
import type { Answer, Call, Sink } from "../call.ts";
import type { ServerClock } from "../clock.ts";
import type { KubeObject } from "../object.ts";
import { type Matcher, matcherOf } from "../selectors.ts";
import type { Server } from "../server.ts";
import { type Cause, Failure, forbiddenField, invalid, statusOf } from "../status.ts";
import type { StoreEvent } from "../store.ts";
import { type View, viewOf } from "../view.ts";
import { parseVersion, versionProblem } from "./list.ts";

/** Least time of a watch without `timeoutSeconds`, seconds; the real one is up to twice as long. */
const MIN_TIMEOUT_SECONDS = 1800;
/** The last bookmark comes this long before the end, ms. */
const BOOKMARK_BEFORE_END_MS = 2000;
const INITIAL_EVENTS_END = { "k8s.io/initial-events-end": "true" };

function truthy(text: string | null): boolean {
  return text === "true" || text === "1";
}

interface WatchOptions {
  /** `undefined`: the current state first. */
  from: number | undefined;
  initialEvents: boolean;
  bookmarks: boolean;
  timeoutMs: number;
}

function readOptions(server: Server, call: Call): WatchOptions {
  const { query } = call;
  const match = query.get("resourceVersionMatch") ?? "";
  const send = query.get("sendInitialEvents") ?? "";
  const causes: Cause[] = [];
  if (send !== "" && !server.settings.watchList) {
    causes.push(
      forbiddenField(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
      ),
    );
  } else if (send !== "" && match !== "NotOlderThan") {
    causes.push(
      forbiddenField(
        "resourceVersionMatch",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      ),
    );
  } else if (send === "" && match !== "") {
    causes.push(
      forbiddenField(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
  const version = query.get("resourceVersion") ?? "";
  const number = version === "" ? 0 : parseVersion(version);
  // the server answers a watch, unlike a list, with an odd code
  if (number === undefined) throw new Failure(500, "", versionProblem(version));
  const initialEvents = truthy(send);
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  return {
    from:
      initialEvents || (number === 0 && send !== "false")
        ? undefined
        : number === 0
          ? server.store.current()
          : number,
    initialEvents,
    bookmarks: truthy(query.get("allowWatchBookmarks")),
    timeoutMs: (seconds > 0 ? seconds : MIN_TIMEOUT_SECONDS * (1 + Math.random())) * 1000,
  };
}

/** How an event looks through a selector; `undefined` when it is not seen. */
function throughSelector(event: StoreEvent, matcher: Matcher | undefined): StoreEvent["type"] | undefined {
  if (matcher === undefined) return event.type;
  const before = event.previous !== undefined && matcher(event.previous);
  if (event.type === "DELETED") return before ? "DELETED" : undefined;
  const after = matcher(event.object);
  if (after) return before ? "MODIFIED" : "ADDED";
  return before ? "DELETED" : undefined;
}

/** The object of a DELETED event: its last state as the watcher knew it, with the version of the deletion. */
function seenObject(event: StoreEvent, type: StoreEvent["type"]): KubeObject {
  if (type !== "DELETED" || event.type === "DELETED" || event.previous === undefined) return event.object;
  return {
    ...event.previous,
    metadata: { ...event.previous.metadata, resourceVersion: String(event.rv) },
  };
}

interface Stream {
  event(type: string, object: KubeObject): void;
  bookmark(rv: number, annotations?: Record<string, string>): void;
  close(): void;
}

function openStream(call: Call, view: View, sink: Sink): Stream {
  let first = true;
  let order: Promise<unknown> | undefined;
  const print = (type: string, object: KubeObject): void => {
    sink.write(`{"type":"${type}","object":${view.event(object, first)}}\n`);
    first = false;
  };
  const inOrder = (action: () => void | Promise<void>): void => {
    if (order === undefined) void action();
    else order = order.then(action);
  };
  return {
    event(type, object) {
      const shown = call.type.fromStorage?.([object]) ?? [object];
      if (Array.isArray(shown)) return inOrder(() => print(type, shown[0]!));
      // a conversion takes time: what comes later waits for it
      order = (order ?? Promise.resolve()).then(async () => print(type, (await shown)[0]!));
      void order.catch(() => sink.destroy());
    },
    bookmark(rv, annotations) {
      const metadata = { resourceVersion: String(rv), ...(annotations === undefined ? {} : { annotations }) };
      inOrder(() => sink.write(`{"type":"BOOKMARK","object":${view.bookmark(metadata)}}\n`));
    },
    close: () => inOrder(() => sink.end()),
  };
}

function run(server: Server, call: Call, options: WatchOptions, sink: Sink, view: View): void {
  const { store, clock, settings } = server;
  const { collection, namespaced } = call.type;
  const stream = openStream(call, view, sink);
  const selector = matcherOf(call);
  const inScope = (event: StoreEvent): boolean =>
    !namespaced || call.namespace === "" || event.object.metadata.namespace === call.namespace;
  const start = options.from ?? store.current();
  let seen = start;
  const deliver = (event: StoreEvent): void => {
    // a watch from a version to come sees nothing until then
    if (event.rv <= start) return;
    seen = event.rv;
    if (!inScope(event)) return;
    const type = throughSelector(event, selector);
    if (type !== undefined) stream.event(type, seenObject(event, type));
  };

  if (options.from === undefined) {
    const namespace = namespaced && call.namespace !== "" ? call.namespace : undefined;
    for (const object of store.list(collection, namespace)) {
      if (selector?.(object) ?? true) stream.event("ADDED", object);
    }
    if (options.initialEvents && options.bookmarks) stream.bookmark(start, INITIAL_EVENTS_END);
  } else {
    for (const event of store.since(collection, options.from) ?? []) deliver(event);
  }

  const cleanups = [store.subscribe(collection, deliver)];
  const finish = (end: () => void): void => {
    for (const cleanup of cleanups) cleanup();
    server.streams.delete(running);
    end();
  };
  const running = {
    collection,
    end: () => finish(stream.close),
    cut: () => finish(() => sink.destroy()),
  };
  server.streams.add(running);
  const gone = (): void => finish(() => {});
  if (call.signal.aborted) {
    gone();
    return;
  }
  call.signal.addEventListener("abort", gone, { once: true });
  cleanups.push(clock.after(options.timeoutMs, running.end));
  if (!options.bookmarks) return;
  // an idle kind has no newer version to tell, and gets no bookmark
  const tell = (): void => {
    if (seen > start) stream.bookmark(seen);
  };
  cleanups.push(every(clock, settings.bookmarkMs, tell));
  const last = options.timeoutMs - BOOKMARK_BEFORE_END_MS;
  if (last > 0) cleanups.push(clock.after(last, tell));
}

/** Repeats an action until the returned function is called. */
function every(clock: ServerClock, ms: number, action: () => void): () => void {
  let cancel = (): void => {};
  const next = (): void => {
    cancel = clock.after(ms, () => {
      action();
      next();
    });
  };
  next();
  return () => cancel();
}

function errorStream(failure: Failure): Answer {
  return {
    code: 200,
    stream(sink) {
      sink.write(`${JSON.stringify({ type: "ERROR", object: statusOf(failure) })}\n`);
      sink.end();
    },
  };
}

export async function watch(server: Server, call: Call): Promise<Answer> {
  const view = viewOf(server, call);
  const options = readOptions(server, call);
  matcherOf(call);
  const { store } = server;
  if (options.from !== undefined) {
    if (store.since(call.type.collection, options.from) === undefined) {
      const message = `too old resource version: ${options.from} (${store.current()})`;
      return errorStream(new Failure(410, "Expired", message));
    }
  }
  return { code: 200, stream: (sink) => run(server, call, options, sink, view) };
}
