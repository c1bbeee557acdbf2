/** One open watch of a fake server. */

import type { WatchEvent, WatchOptions } from "../client/types.ts";
import type { Kind } from "../object.ts";
import type { FakeChange } from "./fake-objects.testkit.ts";
import type { Thing } from "./fixtures.testkit.ts";
import { mutable } from "./guard.ts";
import { createMatcher } from "./selectors.ts";

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

/** A watch as its server sees it. */
export interface OwnedFakeWatch extends FakeWatch {
  /** Sends a change, if the watch is about it. */
  offer(change: FakeChange): void;
  /** Bookmark that ends the initial events. */
  endInitialEvents(version: string): void;
  /** What the client reads. */
  events(): AsyncGenerator<WatchEvent<Thing>>;
}

/** Takes what it is sent from the start; `server` tells the version of bookmarks, and whether bytes get through. */
export function createFakeWatch(
  kind: Kind,
  options: WatchOptions,
  server: { readonly version: number; isSilent(): boolean },
): OwnedFakeWatch {
  /** Each gives the next event, or `undefined` for the end, or throws. */
  const queue: (() => WatchEvent<Thing> | undefined)[] = [];
  const matches = createMatcher(options);
  let wake: () => void = () => {};
  let open = true;

  const push = (item: () => WatchEvent<Thing> | undefined): void => {
    if (server.isSilent()) return;
    options.onBytes?.();
    queue.push(item);
    wake();
  };
  return {
    options,
    get open() {
      return open;
    },
    send: (event) => push(() => event),
    bytes() {
      if (!server.isSilent()) options.onBytes?.();
    },
    bookmark: (version = String(server.version)) => push(() => bookmark(version)),
    endInitialEvents: (version) => push(() => bookmark(version, { "k8s.io/initial-events-end": "true" })),
    end: () => push(() => undefined),
    fail: (error) =>
      push(() => {
        throw error;
      }),
    offer(change) {
      const type = change.kind.plural === kind.plural ? seenAs(change, options, matches) : undefined;
      if (type !== undefined) push(() => ({ type, object: present(change.object, options) }));
    },
    async *events() {
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
        open = false;
        options.signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

/** An object as the server sends it: whole, or its metadata. */
export function present(object: Thing, { metadataOnly }: { metadataOnly?: boolean }): Thing {
  const copy = mutable(object);
  return metadataOnly === true
    ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: copy.metadata }
    : copy;
}

function bookmark(resourceVersion: string, annotations?: Record<string, string>): WatchEvent<Thing> {
  const metadata = { resourceVersion, ...(annotations && { annotations }) };
  return { type: "BOOKMARK", object: { apiVersion: "test.quartet.io/v1", kind: "Thing", metadata } };
}

/** Type of the event for a change; objects come into and leave the selectors. */
function seenAs(
  { type, object, old }: FakeChange,
  options: WatchOptions,
  matches: ReturnType<typeof createMatcher>,
): FakeChange["type"] | undefined {
  if (options.namespace && object.metadata.namespace !== options.namespace) return undefined;
  const was = old !== undefined && matches(old);
  const is = type !== "DELETED" && matches(object);
  if (is) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
}
