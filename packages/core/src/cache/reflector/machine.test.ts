import { describe, expect, it } from "vitest";
import type { WatchEvent } from "../../client/types.ts";
import type { KubeObject } from "../../object.ts";
import { apiError, type Thing, thing } from "../fixtures.testkit.ts";
import { INITIAL_STATE, step } from "./machine.ts";
import type { Effect, Env, Input, MachineState } from "./machine-types.ts";

const ENV: Env = { now: 1_000_000, random: () => 0, absentRetryMs: 10_000 };
const MODERN: Input<Thing> = { type: "server", streaming: true, consistentLists: true };
const PAGED: Input<Thing> = { type: "server", streaming: false, consistentLists: true };
const WOKE: Input<Thing> = { type: "woke" };

/** Runs inputs one after the other; collects what is to be done. */
function run(inputs: readonly Input<Thing>[], from: MachineState = INITIAL_STATE, env: Env = ENV) {
  let state = from;
  const effects: Effect<Thing>[] = [];
  for (const input of inputs) {
    const next = step(state, input, env);
    state = next.state;
    effects.push(...next.effects);
  }
  return { state, effects, did: effects.map((effect) => effect.type), phase: state.phase };
}

function at(version: string, name = "x"): Thing {
  return thing(name, { metadata: { resourceVersion: version } });
}

function event(type: WatchEvent["type"], object: KubeObject): Input<Thing> {
  return { type: "event", event: { type, object: object as Thing } };
}

function bookmark(version: string, initialEnd = false): Input<Thing> {
  const annotations = initialEnd ? { "k8s.io/initial-events-end": "true" } : {};
  return event("BOOKMARK", {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { resourceVersion: version, annotations },
  });
}

function page(version: string, more: { items?: Thing[]; next?: string } = {}): Input<Thing> {
  const metadata = { resourceVersion: version, ...(more.next && { continue: more.next }) };
  return { type: "page", page: { apiVersion: "v1", kind: "ThingList", metadata, items: more.items ?? [] } };
}

const failed = (error: unknown): Input<Thing> => ({ type: "failed", error });
const TOO_LARGE = apiError(504, "Too large resource version", {
  reason: "Timeout",
  causes: [{ reason: "ResourceVersionTooLarge" }],
  retryAfterSeconds: 1,
});
/** A watch that was opened anew after its first end, and has seen nothing yet. */
const watchingAt = (version: string): MachineState =>
  run([PAGED, page(version), bookmark(version), { type: "ended" }]).state;

describe("streaming start", () => {
  it("CORE-160 stages objects until the initial-events-end bookmark, swaps once, and watches on", () => {
    const { did, phase, state } = run([
      MODERN,
      event("ADDED", at("5")),
      event("ADDED", at("7", "y")),
      bookmark("9", true),
    ]);
    expect(did).toEqual(["begin", "stage", "stage", "swap"]);
    expect(phase.name).toBe("watching");
    expect(state.version).toBe("9");
  });

  it("CORE-160 does not take a plain bookmark for the end of the initial events", () => {
    const { did, phase } = run([MODERN, bookmark("8")]);
    expect(did).toEqual(["begin"]);
    expect(phase.name).toBe("streaming");
  });

  it("takes an object out of the side store that is deleted during the initial events", () => {
    expect(run([MODERN, event("ADDED", at("5")), event("DELETED", at("6"))]).did).toEqual([
      "begin",
      "stage",
      "unstage",
    ]);
  });

  it.each([
    ["HTTP 400", apiError(400)],
    [
      "HTTP 422",
      apiError(422, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"),
    ],
    [
      "500 naming RequestWatchProgress",
      apiError(500, "the required storage feature RequestWatchProgress is disabled"),
    ],
  ])("CORE-161 falls back to pages on %s, at once, and says so", (_, error) => {
    const { did, phase } = run([MODERN, failed(error)]);
    expect(did).toEqual(["begin", "streaming-refused", "begin"]);
    expect(phase).toMatchObject({ name: "listing", reason: "fallback", limit: 500 });
  });

  it("CORE-161 takes the refusal back when the plain list is a bad request, too", () => {
    const { did, phase } = run([MODERN, failed(apiError(400)), failed(apiError(400))]);
    expect(did.slice(-2)).toEqual(["streaming-allowed", "failed"]);
    expect(phase.name).toBe("waiting");
  });

  it("CORE-162 lists after too long a silence, without blaming the server for good", () => {
    const { did, phase } = run([MODERN, { type: "silent" }]);
    expect(did).toEqual(["begin", "begin"]);
    expect(phase.name).toBe("listing");
  });

  it("starts over after any other failure, with an empty side store", () => {
    const { did, phase } = run([MODERN, event("ADDED", at("5")), { type: "ended" }, WOKE, MODERN]);
    expect(did).toEqual(["begin", "stage", "failed", "begin"]);
    expect(phase.name).toBe("streaming");
  });

  it("lists after the second 500 in a row", () => {
    const again = run([MODERN, failed(apiError(500)), WOKE]);
    expect(again.phase.name).toBe("streaming");
    expect(run([failed(apiError(500))], again.state).phase.name).toBe("listing");
  });
});

describe("paged list", () => {
  it("CORE-163 swaps only when the last page has arrived", () => {
    const half = run([PAGED, page("10", { items: [at("3")], next: "t" })]);
    expect(half.did).toEqual(["begin", "stage"]);
    const whole = run([page("10", { items: [at("4", "y")] })], half.state);
    expect(whole.did).toEqual(["stage", "swap"]);
    expect(whole.state.version).toBe("10");
  });

  it("CORE-163 asks an old server for any version, and only that one", () => {
    const old: Input<Thing> = { type: "server", streaming: false, consistentLists: false };
    expect(run([old]).phase).toMatchObject({ name: "listing", anyVersion: true, limit: 500 });
    expect(run([PAGED]).phase).toMatchObject({ anyVersion: false });
  });

  it("CORE-164 goes on with the token of an expired page, and watches from the first page's version", () => {
    const expired = failed(apiError(410, "expired", { continueToken: "fresh" }));
    const { state, phase, did } = run([PAGED, page("10", { next: "t" }), expired]);
    expect(phase).toMatchObject({ name: "listing", token: "fresh" });
    expect(did).toEqual(["begin", "stage"]);
    expect(run([page("15")], state).state.version).toBe("10");
  });

  it("CORE-164 restarts an expired list without a token, the third time without limit", () => {
    const expire = [page("10", { next: "t" }), failed(apiError(410))];
    const twice = run([PAGED, ...expire, ...expire]);
    expect(twice.phase).toMatchObject({ name: "listing", limit: 500 });
    expect(twice.phase).not.toHaveProperty("token");
    expect(twice.did.filter((type) => type === "begin")).toHaveLength(3);
    expect(run(expire, twice.state).phase).toMatchObject({ name: "listing", limit: 0 });
  });
});

describe("watch", () => {
  it("CORE-165 opens a watch that ended regularly again, without a list or a wait", () => {
    const { did, phase, state } = run([event("ADDED", at("21")), { type: "ended" }], watchingAt("20"));
    expect(did).toEqual(["upsert", "position"]);
    expect(phase.name).toBe("watching");
    expect(state.version).toBe("21");
  });

  it("CORE-166 moves the version on with events and bookmarks, never back", () => {
    const versions = [
      event("ADDED", at("25")),
      bookmark("30"),
      event("MODIFIED", at("28")),
      event("DELETED", at("31")),
    ];
    const seen: (string | undefined)[] = [];
    let state = watchingAt("20");
    for (const input of versions) {
      state = run([input], state).state;
      seen.push(state.version);
    }
    expect(seen).toEqual(["25", "30", "30", "31"]);
  });

  it("CORE-167 lists at the last seen version when that expired, then at any if that fails", () => {
    const relist = run([failed(apiError(410)), MODERN], watchingAt("20"));
    expect(relist.phase).toMatchObject({ name: "streaming", reason: "expired", atLeast: "20" });
    for (const error of [apiError(410), TOO_LARGE]) {
      const newest = run([failed(error)], relist.state);
      expect(newest.phase).toMatchObject({ name: "streaming", reason: "expired" });
      expect(newest.phase).not.toHaveProperty("atLeast");
    }
    const paged = run([failed(apiError(410)), PAGED], watchingAt("20"));
    expect(paged.phase).toMatchObject({ name: "listing", atLeast: "20" });
    for (const error of [apiError(410), TOO_LARGE]) {
      const newest = run([failed(error)], paged.state);
      expect(newest.phase).toMatchObject({ name: "listing", anyVersion: false });
      expect(newest.phase).not.toHaveProperty("atLeast");
    }
  });

  it("waits before a list when the version of the list before it expired straight away", () => {
    const { phase } = run([MODERN, bookmark("20", true), failed(apiError(410))]);
    expect(phase).toMatchObject({ name: "waiting", ms: 800, next: { name: "start", reason: "expired" } });
  });

  it("waits as well when the watch after the list ended in order, but brought nothing before its version expired", () => {
    const quiet: Env = { ...ENV, now: ENV.now + 60_000 };
    const ended = run([MODERN, bookmark("20", true)]).state;
    const { phase } = run([{ type: "ended" }, failed(apiError(410))], ended, quiet);
    expect(phase).toMatchObject({ name: "waiting", next: { name: "start", reason: "expired" } });
    const lively = run([event("ADDED", at("21")), { type: "ended" }, failed(apiError(410))], ended, quiet);
    expect(lively.phase).toMatchObject({ name: "start", reason: "expired", atLeast: "21" });
  });

  it.each([
    ["a refused connection", new Error("connect ECONNREFUSED")],
    ["429", apiError(429, "storage is (re)initializing")],
    ["503", apiError(503)],
  ])("CORE-168 after %s waits and watches on from the same version, without a list", (_, error) => {
    const broken = run([failed(error), WOKE], watchingAt("20"));
    expect(broken.did).toEqual(["failed"]);
    expect(broken.phase.name).toBe("watching");
    expect(broken.state.version).toBe("20");
  });

  it("CORE-168 tries once more after a 500, then lists; an event in between starts the count anew", () => {
    const once = run([failed(apiError(500)), WOKE], watchingAt("20"));
    expect(once.phase.name).toBe("watching");
    expect(run([failed(apiError(500)), WOKE], once.state).phase).toMatchObject({
      name: "start",
      atLeast: "20",
    });
    const recovered = run([event("ADDED", at("21")), failed(apiError(500)), WOKE], once.state);
    expect(recovered.phase.name).toBe("watching");
  });

  it("opens a connection that broke after events again at once", () => {
    const { phase, effects } = run(
      [event("ADDED", at("21")), failed(new Error("socket hang up"))],
      watchingAt("20"),
    );
    expect(phase.name).toBe("watching");
    expect(effects.at(-1)).toMatchObject({ type: "failed", delayMs: 0 });
  });

  it("CORE-169 takes a watch that ended within 1 s without events for a failure", () => {
    const open = watchingAt("20");
    const short = run([{ type: "ended" }], open, { ...ENV, now: ENV.now + 999 });
    expect(short.phase).toMatchObject({ name: "waiting", ms: 800, next: { name: "watching" } });
    const long = run([{ type: "ended" }], open, { ...ENV, now: ENV.now + 1_000 });
    expect(long.phase.name).toBe("watching");
    expect(run([bookmark("20"), { type: "ended" }], open).phase.name).toBe("watching");
  });

  it("CORE-170 calls silence a stall only after a periodic bookmark of the same watch", () => {
    const open = watchingAt("20");
    expect(run([{ type: "silent" }], open).effects).toEqual([{ type: "silence", stall: false }]);
    expect(run([bookmark("21"), { type: "silent" }], open).effects.at(-1)).toEqual({
      type: "silence",
      stall: true,
    });
    const afterStall = run([bookmark("21"), { type: "silent" }, { type: "silent" }], open);
    expect(afterStall.effects.at(-1)).toEqual({ type: "silence", stall: false });
    expect(afterStall.phase.name).toBe("watching");
    const streamed = run([MODERN, bookmark("20", true), { type: "silent" }]);
    expect(streamed.effects.at(-1)).toEqual({ type: "silence", stall: false });
  });

  it("lists anew, at any version, when the server calls the request bad", () => {
    const { phase } = run([failed(apiError(400, "invalid resource version")), WOKE], watchingAt("20"));
    expect(phase).toEqual({ name: "start", reason: "error" });
  });
});

describe("missing kind or right", () => {
  it.each([
    [404, "waiting-for-kind"],
    [403, "forbidden"],
  ])("CORE-173 waits after a %i, deletes nothing, and lists from scratch later", (code, state) => {
    for (const from of [run([MODERN]).state, run([PAGED]).state, watchingAt("20")]) {
      const { phase, effects } = run([failed(apiError(code))], from);
      expect(effects).toEqual([{ type: "absent", state, error: apiError(code) }]);
      expect(phase).toMatchObject({ name: "waiting", ms: 10_000 });
      const later = run([WOKE, MODERN], run([failed(apiError(code))], from).state);
      expect(later.phase.name).toBe("streaming");
      expect(later.phase).not.toHaveProperty("atLeast");
    }
  });
});

describe("waits", () => {
  it("honours the wait that the server asks for, up to 30 s", () => {
    const asks = (retryAfterSeconds: number) =>
      run([MODERN, failed(apiError(429, "slow down", { retryAfterSeconds }))]).phase;
    expect(asks(5)).toMatchObject({ name: "waiting", ms: 5_000 });
    expect(asks(300)).toMatchObject({ ms: 30_000 });
  });

  it("asks again for an unreachable server", () => {
    const { phase } = run([failed(new Error("connect ECONNREFUSED")), WOKE]);
    expect(phase).toEqual({ name: "start", reason: "initial" });
  });
});
