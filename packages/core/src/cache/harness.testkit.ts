/** A cache on a fake server and a fake clock, with everything it does written down. */

import { keyOf, keyToString } from "../object.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { type CacheOptions, createCache } from "./cache.ts";
import { type FakeServer, fakeServer } from "./fake-server.testkit.ts";
import { type LogLine, memoryLog, type Thing, things } from "./fixtures.testkit.ts";
import type { InformerGauges } from "./observer.ts";
import type { Cache, CacheEvent, Informer, InformerOptions } from "./types.ts";

export interface Harness {
  clock: FakeClock;
  server: FakeServer;
  cache: Cache;
  lines: LogLine[];
  /** Calls of the observer, such as `list initial` or `stall`. */
  observed: string[];
  gauges: Set<InformerGauges>;
  /** An informer of things with a handler that writes every event down. */
  watch(options?: InformerOptions<Thing>): { informer: Informer<Thing>; events: string[] };
  /** Requests so far: `list`, `watch` (a plain one) or `stream` (with initial events). */
  requests(): string[];
}

export function harness(options: Partial<CacheOptions> = {}): Harness {
  const clock = fakeClock();
  const server = fakeServer();
  const { log, lines } = memoryLog();
  const observed: string[] = [];
  const gauges = new Set<InformerGauges>();
  const cache = createCache({
    client: server.client,
    clock,
    log,
    random: () => 0,
    guard: true,
    resyncMs: 0,
    observer: {
      list: (_, reason) => observed.push(`list ${reason}`),
      watch: () => observed.push("watch"),
      stall: () => observed.push("stall"),
      overlayExpired: () => observed.push("overlay expired"),
      handlerError: () => observed.push("handler error"),
      informer(informer) {
        gauges.add(informer);
        return () => void gauges.delete(informer);
      },
    },
    ...options,
  });

  return {
    clock,
    server,
    cache,
    lines,
    observed,
    gauges,
    watch(scope = {}) {
      const events: string[] = [];
      const informer = cache.informer(things, scope);
      informer.addHandler((event) => void events.push(describe(event)));
      return { informer, events };
    },
    requests: () =>
      server.seen.map(({ verb, options: { sendInitialEvents } }) => (sendInitialEvents ? "stream" : verb)),
  };
}

/** `add a/x (initial)`, `update a/x (resync)`, `delete a/x (stale)`. */
export function describe(event: CacheEvent<Thing>): string {
  const key = keyToString(keyOf(event.object));
  const notes = [
    event.type === "add" && event.initial ? " (initial)" : "",
    event.type === "update" && event.resync ? " (resync)" : "",
    event.type === "delete" && event.stale ? " (stale)" : "",
  ];
  return `${event.type} ${key}${notes.join("")}`;
}
