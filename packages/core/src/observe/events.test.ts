import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError } from "../client/errors.ts";
import type { Patch } from "../client/types.ts";
import type { Kind, KubeObject, ObjectKey } from "../object.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { cutNote, type KubeEvent } from "./event-object.ts";
import { createEventSink, type EventSink } from "./events.ts";
import { parseLogLevels } from "./levels.ts";
import { createLogging } from "./logger.ts";
import type { EventInput, EventTarget, Logger } from "./types.ts";

const MINUTE = 60_000;
const pod = (name: string): EventTarget => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "n", uid: `uid-${name}`, resourceVersion: "7" },
});
const warning: EventInput = { type: "Warning", reason: "CleanupFailed", note: "it failed" };

const apiError = (code: number, reason: string, cause?: string): ApiError =>
  new ApiError({
    code,
    reason,
    message: reason,
    details: { causes: cause === undefined ? [] : [{ reason: cause }] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "POST",
    path: "/events",
  });

/** Server that stores events; `fail` decides on each request. */
function eventServer(): {
  stored: Map<string, KubeEvent>;
  calls: string[];
  fail: (call: string) => Error | undefined;
  create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, patch: Patch): Promise<T>;
} {
  const server = {
    stored: new Map<string, KubeEvent>(),
    calls: [] as string[],
    fail: (_call: string): Error | undefined => undefined,
    async create<T extends KubeObject>(_kind: Kind<T>, object: T): Promise<T> {
      server.calls.push("create");
      const error = server.fail("create");
      if (error !== undefined) throw error;
      const name = object.metadata.name!;
      if (server.stored.has(name)) throw apiError(409, "AlreadyExists");
      server.stored.set(name, structuredClone(object) as unknown as KubeEvent);
      return object;
    },
    async patch<T extends KubeObject>(_kind: Kind<T>, key: ObjectKey, patch: Patch): Promise<T> {
      server.calls.push("patch");
      const error = server.fail("patch");
      if (error !== undefined) throw error;
      const event = server.stored.get(key.name);
      if (event === undefined) throw apiError(404, "NotFound");
      if (patch.type === "merge") Object.assign(event, structuredClone(patch.body));
      return event as unknown as T;
    },
  };
  return server;
}

function start(): {
  clock: FakeClock;
  server: ReturnType<typeof eventServer>;
  sink: EventSink;
  dropped: () => number;
  lines: string[];
  log: Logger;
  events: () => KubeEvent[];
} {
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const server = eventServer();
  const lines: string[] = [];
  let dropped = 0;
  const { log } = createLogging({
    levels: parseLogLevels("info"),
    destination: { write: (line) => lines.push(line) },
    clock,
  });
  const sink = createEventSink({
    clock,
    log,
    instance: "pod-0",
    onDropped: () => dropped++,
    random: () => 0.5,
  });
  return {
    clock,
    server,
    sink,
    dropped: () => dropped,
    lines,
    log,
    events: () => [...server.stored.values()],
  };
}

describe("events", () => {
  it("CORE-289 fills the required fields of events.k8s.io/v1 and leaves the deprecated ones unset", async () => {
    const { clock, server, sink, events } = start();
    const related = { apiVersion: "v1", kind: "Node", metadata: { name: "node" } };
    sink.recorder("tars", server).record(pod("a"), { ...warning, action: "Cleanup" }, related);
    await clock.flush();
    expect(events()).toEqual([
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: expect.stringMatching(/^a\.[0-9a-f]+$/), namespace: "n" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        type: "Warning",
        reason: "CleanupFailed",
        action: "Cleanup",
        note: "it failed",
        reportingController: "quartet.io/tars",
        reportingInstance: "pod-0",
        regarding: {
          apiVersion: "v1",
          kind: "Pod",
          namespace: "n",
          name: "a",
          uid: "uid-a",
          resourceVersion: "7",
        },
        related: { apiVersion: "v1", kind: "Node", namespace: "", name: "node" },
      },
    ]);
  });

  it("CORE-289 stores events about cluster-scoped objects in default and keeps long names within the limit", async () => {
    const { clock, server, sink, events } = start();
    const target = { apiVersion: "v1", kind: "Node", metadata: { name: "x".repeat(253) } };
    sink.recorder("tars", server).record(target, { ...warning, reason: "R".repeat(200) });
    await clock.flush();
    expect(events()[0]!.metadata.namespace).toBe("default");
    expect(events()[0]!.metadata.name!.length).toBe(253);
    expect(events()[0]!.reason).toHaveLength(128);
    expect(events()[0]!.action).toHaveLength(128);
  });

  it("CORE-289 cuts notes at 1 024 bytes between characters", () => {
    expect(cutNote("x".repeat(1_024))).toBe("x".repeat(1_024));
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 300, maxLength: 2_000 }), (note) => {
        const cut = cutNote(note);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_024);
        if (cut !== note) {
          expect(cut.endsWith("…")).toBe(true);
          expect(note.startsWith(cut.slice(0, -1))).toBe(true);
          expect(Buffer.byteLength(cut)).toBeGreaterThan(1_018);
        }
      }),
    );
  });

  it("keeps tokens out of notes", async () => {
    const { clock, server, sink, events } = start();
    sink.recorder("x", server).record(pod("a"), { ...warning, note: "Bearer abcdefgh12345678 refused" });
    await clock.flush();
    expect(events()[0]!.note).toBe("Bearer [redacted] refused");
  });
});

describe("events in the log", () => {
  it("CORE-290 are one line each, repeats and dropped ones left out", async () => {
    const { clock, server, sink, lines, log, dropped } = start();
    const recorder = sink.recorder("x", server, log);
    for (let index = 0; index < 3; index++) recorder.record(pod("a"), warning);
    recorder.record(pod("a"), { ...warning, note: "Bearer abcdefgh12345678 refused", distinct: "other" });
    sink.recorder("silent", server).record(pod("a"), warning);
    await clock.flush();
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      ["it failed", "Bearer [redacted] refused"].map((note) => ({
        level: "info",
        ts: expect.any(String),
        logger: "",
        msg: "Event",
        controller: "x",
        Pod: { name: "a", namespace: "n" },
        namespace: "n",
        name: "a",
        type: "Warning",
        reason: "CleanupFailed",
        note,
      })),
    );
    for (let index = 0; index < 40; index++) recorder.record(pod("b"), { ...warning, distinct: `${index}` });
    expect(lines).toHaveLength(2 + 40 - dropped());
    expect(dropped()).toBeGreaterThan(0);
  });
});

describe("event series", () => {
  it("CORE-290 patches the second occurrence as a series of 2 and counts later ones locally", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    recorder.record(pod("a"), warning);
    await clock.advance(1_000);
    recorder.record(pod("a"), { ...warning, note: "another text" });
    await clock.advance(1_000);
    for (let index = 0; index < 10; index++) recorder.record(pod("a"), warning);
    await clock.flush();
    expect(server.calls).toEqual(["create", "patch"]);
    expect(events()[0]!.series).toEqual({ count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" });
  });

  it("CORE-290 tells the final count after 6 min of silence and starts a new event then", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    for (let index = 0; index < 5; index++) recorder.record(pod("a"), warning);
    await clock.advance(5 * MINUTE);
    expect(events()[0]!.series!.count).toBeLessThanOrEqual(5);
    await clock.advance(2 * MINUTE);
    expect(events()[0]!.series!.count).toBe(5);
    recorder.record(pod("a"), warning);
    await clock.flush();
    expect(events()).toHaveLength(2);
    expect(events()[1]).not.toHaveProperty("series");
  });

  it("CORE-290 refreshes a running series every 30 min", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    for (let minute = 0; minute < 62; minute++) {
      recorder.record(pod("a"), warning);
      await clock.advance(MINUTE);
    }
    const patches = server.calls.filter((call) => call === "patch").length;
    expect(patches).toBe(3);
    expect(events()).toHaveLength(1);
    expect(events()[0]!.series!.count).toBeGreaterThan(55);
  });

  it("CORE-290 forgets single events after 6 min", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    recorder.record(pod("a"), warning);
    await clock.advance(7 * MINUTE);
    recorder.record(pod("a"), warning);
    await clock.flush();
    expect(events().map((event) => event.series)).toEqual([undefined, undefined]);
    expect(server.calls).toEqual(["create", "create"]);
  });

  it.each([
    ["type", { ...warning, type: "Normal" as const }, pod("a"), "x"],
    ["reason", { ...warning, reason: "Other" }, pod("a"), "x"],
    ["action", { ...warning, action: "Other" }, pod("a"), "x"],
    ["object", warning, pod("b"), "x"],
    ["controller", warning, pod("a"), "y"],
  ])("CORE-290 keeps events of another %s apart", async (_what, input, target, controller) => {
    const { clock, server, sink } = start();
    sink.recorder("x", server).record(pod("a"), warning);
    sink.recorder(controller, server).record(target, input);
    await clock.flush();
    expect(server.calls).toEqual(["create", "create"]);
  });
});

describe("limits and failures of events", () => {
  it("CORE-291 lets one object have 25 events, then one per 5 min, and counts what is dropped", async () => {
    const { clock, server, sink, dropped, events } = start();
    const recorder = sink.recorder("x", server);
    const burst = (): void => {
      for (let index = 0; index < 30; index++)
        recorder.record(pod("a"), { ...warning, reason: `R${index}${clock.now()}` });
    };
    burst();
    recorder.record(pod("b"), warning);
    await clock.flush();
    expect(events()).toHaveLength(26);
    expect(dropped()).toBe(5);
    await clock.advance(5 * MINUTE);
    burst();
    await clock.flush();
    expect(events()).toHaveLength(27);
  });

  it("CORE-291 holds at most 1 000 events while the server is away", async () => {
    const { clock, server, sink, dropped } = start();
    server.fail = () =>
      new ConnectionError({ code: "ECONNREFUSED", message: "refused", method: "POST", path: "/" });
    const recorder = sink.recorder("x", server);
    for (let index = 0; index < 1_500; index++) recorder.record(pod(`p${index}`), warning);
    await clock.advance(1_000);
    expect(dropped()).toBe(500);
  });

  it("CORE-291 tries 12 times at about 10 s, then gives up", async () => {
    const { clock, server, sink, dropped } = start();
    server.fail = () => apiError(503, "ServiceUnavailable");
    sink.recorder("x", server).record(pod("a"), warning);
    await clock.advance(9_999);
    expect(server.calls).toHaveLength(1);
    await clock.advance(1);
    expect(server.calls).toHaveLength(2);
    await clock.advance(10 * MINUTE);
    expect(server.calls).toHaveLength(12);
    expect(dropped()).toBe(1);
  });

  it("CORE-291 does not repeat a rejected event", async () => {
    const { clock, server, sink, dropped } = start();
    server.fail = () => apiError(422, "Invalid");
    sink.recorder("x", server).record(pod("a"), warning);
    await clock.advance(10 * MINUTE);
    expect(server.calls).toHaveLength(1);
    expect(dropped()).toBe(1);
  });

  it("CORE-291 creates an event anew when the one to patch has vanished", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    recorder.record(pod("a"), warning);
    await clock.flush();
    server.stored.clear();
    recorder.record(pod("a"), warning);
    await clock.flush();
    expect(events()).toHaveLength(1);
    expect(events()[0]!.series!.count).toBe(2);
  });

  it("CORE-291 takes an event that exists already for sent", async () => {
    const { clock, server, sink, events } = start();
    let lost = true;
    server.fail = () => undefined;
    const { create } = server;
    const lossy = {
      ...server,
      async create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T> {
        const answer = await create(kind, object);
        if (!lost) return answer;
        lost = false;
        throw new ConnectionError({ code: "ECONNRESET", message: "reset", method: "POST", path: "/" });
      },
    };
    sink.recorder("x", lossy).record(pod("a"), warning);
    await clock.advance(MINUTE);
    expect(events()).toHaveLength(1);
    expect(server.calls).toEqual(["create", "create"]);
  });

  it.each([
    ["is being deleted", apiError(403, "Forbidden", "NamespaceTerminating")],
    ["is gone", apiError(404, "NotFound")],
  ])("CORE-292 says nothing above debug about an event in a namespace that %s", async (_state, error) => {
    const { clock, server, sink, lines } = start();
    server.fail = () => error;
    sink.recorder("x", server).record(pod("a"), warning);
    await clock.advance(MINUTE);
    expect(server.calls).toEqual(["create"]);
    expect(lines).toEqual([]);
  });

  it("CORE-262 sends what waits when it is stopped, without waiting for retries", async () => {
    const { clock, server, sink, events } = start();
    const recorder = sink.recorder("x", server);
    server.fail = () => apiError(503, "ServiceUnavailable");
    recorder.record(pod("a"), warning);
    await clock.flush();
    server.fail = () => undefined;
    for (let index = 0; index < 4; index++) recorder.record(pod("b"), warning);
    await clock.flush();
    await sink.stop(2_000);
    const series = Object.fromEntries(events().map((event) => [event.regarding.name, event.series?.count]));
    expect(series).toEqual({ a: undefined, b: 4 });
    recorder.record(pod("c"), warning);
    await clock.flush();
    expect(events()).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("CORE-262 gives up sending after the time given", async () => {
    const { clock, server, sink } = start();
    const hanging = { ...server, create: <T>(): Promise<T> => new Promise<T>(() => {}) };
    sink.recorder("x", hanging).record(pod("a"), warning);
    let done = false;
    void sink.stop(2_000).then(() => (done = true));
    await clock.advance(1_999);
    expect(done).toBe(false);
    await clock.advance(1);
    expect(done).toBe(true);
  });
});
