/**
 * The reflector's state machine. One pure function, {@link step}, says what follows from what happened; the reflector
 * does what it says.
 *
 *     start ──> streaming ──┐             waiting (after a failure, or for a missing kind or right)
 *       │           │       ├──> watching    │
 *       └──────> listing ───┘       │        └──> whatever phase it was put before
 *       ^                           │
 *       └── the version expired ────┘
 */
import { ApiError } from "../../client/errors.ts";
import type { WatchEvent } from "../../client/types.ts";
import type { KubeObject } from "../../object.ts";
import { laterVersion } from "../resource-version.ts";
import {
  absence,
  backOff,
  continueTokenOf,
  isBadRequest,
  isGone,
  isServerError,
  isVersionUnavailable,
  NO_BACKOFF,
  refusesStreaming,
  retryAfterMs,
} from "./faults.ts";
import type {
  Effect,
  Env,
  Input,
  ListGoal,
  ListingPhase,
  ListReason,
  MachineState,
  Phase,
  Step,
  WatchingPhase,
} from "./machine-types.ts";

/** Page size of lists; client-go's pager default. */
const PAGE_LIMIT = 500;
/** A list that expired so often while paging is made in one piece. */
const MAX_EXPIRED_PAGES = 3;
/** A watch that ends sooner and without events has failed. */
const SHORT_WATCH_MS = 1_000;
/** Marks the bookmark after the last initial event of a streaming list (Kubernetes API concepts, "Streaming lists"). */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** State of a reflector that has done nothing yet. */
export const INITIAL_STATE: MachineState = {
  phase: { name: "start", reason: "initial" },
  version: undefined,
  backoff: NO_BACKOFF,
};

/** The one transition function. */
export function step<T extends KubeObject>(state: MachineState, input: Input<T>, env: Env): Step<T> {
  const { phase } = state;
  switch (phase.name) {
    case "start":
      return onStart(state, phase, input, env);
    case "streaming":
      return onStreaming(state, phase, input, env);
    case "listing":
      return onListing(state, phase, input, env);
    case "watching":
      return onWatching(state, phase, input, env);
    case "waiting":
      return resume(state, phase.next, env);
  }
}

/** After a wait. */
function resume<T extends KubeObject>(state: MachineState, next: Phase, env: Env): Step<T> {
  if (next.name === "watching") return go(state, watching(next, env));
  return next.name === "streaming"
    ? go(state, next, { type: "begin", reason: next.reason })
    : go(state, next);
}

function onStart<T extends KubeObject>(
  state: MachineState,
  phase: Extract<Phase, { name: "start" }>,
  input: Input<T>,
  env: Env,
): Step<T> {
  if (input.type !== "server") return fail(state, errorOf(input), phase, env);
  const begin: Effect<T> = { type: "begin", reason: phase.reason };
  if (input.streaming) return go(state, { ...phase, name: "streaming", serverErrors: 0 }, begin);
  return go(state, listing(phase, { anyVersion: !input.consistentLists }), begin);
}

function onStreaming<T extends KubeObject>(
  state: MachineState,
  phase: Extract<Phase, { name: "streaming" }>,
  input: Input<T>,
  env: Env,
): Step<T> {
  if (input.type === "event") {
    const { type, object } = input.event;
    if (type === "DELETED") return go(state, phase, { type: "unstage", object });
    if (type !== "BOOKMARK") return go(state, phase, { type: "stage", objects: [object] });
    return endsInitialEvents(object)
      ? swap(state, object.metadata.resourceVersion ?? "", env)
      : go(state, phase);
  }
  const paged = (afterRefusal: boolean): ListingPhase =>
    listing({ ...phase, reason: "fallback" }, { afterRefusal });
  const begin: Effect<T> = { type: "begin", reason: "fallback" };
  if (input.type === "silent") return go(state, paged(false), begin);

  const error = errorOf(input);
  if (refusesStreaming(error)) {
    return go(state, paged(true), { type: "streaming-refused", error }, begin);
  }
  if (isVersionUnavailable(error) && phase.atLeast !== undefined) {
    const { atLeast: _, ...newest } = phase;
    return go(state, newest, { type: "begin", reason: "expired" });
  }
  if (isServerError(error)) {
    const again = { ...phase, serverErrors: phase.serverErrors + 1 };
    if (phase.serverErrors === 0) return fail(state, error, again, env);
    return go(state, paged(false), begin);
  }
  return absentOr(state, error, start(phase), env);
}

function onListing<T extends KubeObject>(
  state: MachineState,
  phase: ListingPhase,
  input: Input<T>,
  env: Env,
): Step<T> {
  if (input.type === "page") {
    const { items, metadata } = input.page;
    const stage: Effect<T> = { type: "stage", objects: items };
    const firstVersion = phase.firstVersion ?? metadata.resourceVersion ?? "";
    const isLast = metadata.continue === undefined || metadata.continue === "";
    return isLast ? swap(state, firstVersion, env, stage) : go(state, { ...phase, firstVersion }, stage);
  }
  const error = errorOf(input);
  if (isGone(error) && phase.firstVersion !== undefined) return onExpiredPage(state, phase, error);
  if (isVersionUnavailable(error) && phase.atLeast !== undefined) {
    const { atLeast: _, ...newest } = phase;
    return go(state, newest, { type: "begin", reason: "expired" });
  }
  if (phase.afterRefusal && isBadRequest(error)) {
    // The plain list is refused as well: the fault lies in the request, not in the way of listing.
    const failed = absentOr<T>(state, error, start(phase), env);
    return { ...failed, effects: [{ type: "streaming-allowed" }, ...failed.effects] };
  }
  return absentOr(state, error, start(phase), env);
}

/** The list grew too old between two pages. */
function onExpiredPage<T extends KubeObject>(
  state: MachineState,
  phase: ListingPhase,
  error: unknown,
): Step<T> {
  const expired = phase.expired + 1;
  const token = continueTokenOf(error);
  const tooOften = expired >= MAX_EXPIRED_PAGES;
  if (token !== undefined && !tooOften) {
    // The pages to come are newer than those at hand. The watch starts at the first page's version and so brings the
    // changes in between; the store drops what it already knows.
    return go(state, { ...phase, token, expired });
  }
  const { token: _, firstVersion: __, ...again } = phase;
  const limit = tooOften ? 0 : phase.limit;
  return go(state, { ...again, expired, limit }, { type: "begin", reason: "expired" });
}

function onWatching<T extends KubeObject>(
  state: MachineState,
  phase: WatchingPhase,
  input: Input<T>,
  env: Env,
): Step<T> {
  if (input.type === "event") return onWatchEvent(state, phase, input.event);
  const again = watching({ serverErrors: phase.serverErrors }, env);
  if (input.type === "silent") return go(state, again, { type: "silence", stall: phase.bookmarked });
  if (input.type === "ended") {
    const short = phase.events === 0 && env.now - phase.openedAt < SHORT_WATCH_MS;
    if (short) return fail(state, new Error("the watch ended at once"), again, env);
    // As long as the list's version is all there is, its expiry would come straight after it.
    return go(state, { ...again, afterList: phase.afterList && phase.events === 0 });
  }
  const error = errorOf(input);
  const relist = (reason: ListReason): Phase => start({ reason, ...atLeast(state.version) });
  if (isVersionUnavailable(error)) {
    // Straight after a list this would go round in circles, hence the wait.
    return phase.afterList ? fail(state, error, relist("expired"), env) : go(state, relist("expired"));
  }
  if (isBadRequest(error)) return fail(state, error, start({ reason: "error" }), env);
  if (isServerError(error)) {
    const next = phase.serverErrors === 0 ? { ...again, serverErrors: 1 } : relist("error");
    return fail(state, error, next, env);
  }
  if (!(error instanceof ApiError) && phase.events > 0) {
    // The connection broke under a watch that worked: likely the next one does, too.
    return go(state, again, { type: "failed", error, delayMs: 0 });
  }
  return absentOr(state, error, again, env);
}

function onWatchEvent<T extends KubeObject>(
  state: MachineState,
  phase: WatchingPhase,
  event: WatchEvent<T>,
): Step<T> {
  const { type, object } = event;
  const version = laterVersion(state.version, object.metadata.resourceVersion ?? state.version ?? "");
  const seen = { ...phase, events: phase.events + 1, serverErrors: 0 };
  if (type === "BOOKMARK") {
    return go({ ...state, version }, { ...seen, bookmarked: true }, { type: "position", version });
  }
  const change: Effect<T> = { type: type === "DELETED" ? "remove" : "upsert", object };
  return go({ ...state, version }, seen, change, { type: "position", version });
}

function go<T extends KubeObject>(state: MachineState, phase: Phase, ...effects: Effect<T>[]): Step<T> {
  return { state: { ...state, phase }, effects };
}

function swap<T extends KubeObject>(
  state: MachineState,
  version: string,
  env: Env,
  ...before: Effect<T>[]
): Step<T> {
  const phase = watching({ afterList: true }, env);
  return go({ ...state, version }, phase, ...before, { type: "swap", version });
}

/** Waits for a missing kind or right, or, for any other error, backs off before `next`. */
function absentOr<T extends KubeObject>(state: MachineState, error: unknown, next: Phase, env: Env): Step<T> {
  const absent = absence(error);
  if (absent === undefined) return fail(state, error, next, env);
  const waiting: Phase = {
    name: "waiting",
    ms: env.absentRetryMs,
    next: start({ reason: state.version === undefined ? "initial" : "returned" }),
  };
  return go(state, waiting, { type: "absent", state: absent, error });
}

function fail<T extends KubeObject>(state: MachineState, error: unknown, next: Phase, env: Env): Step<T> {
  const { backoff, delayMs } = backOff(state.backoff, env.now, env.random);
  const ms = Math.max(delayMs, retryAfterMs(error));
  const effect: Effect<T> = { type: "failed", error, delayMs: ms };
  return go({ ...state, backoff }, { name: "waiting", ms, next }, effect);
}

function start(goal: ListGoal): Phase {
  return { name: "start", reason: goal.reason, ...atLeast(goal.atLeast) };
}

function atLeast(version: string | undefined): { atLeast?: string } {
  return version === undefined || version === "" ? {} : { atLeast: version };
}

function listing(from: ListGoal, options: Partial<ListingPhase>): ListingPhase {
  return {
    name: "listing",
    reason: from.reason,
    ...atLeast(from.atLeast),
    anyVersion: (options.anyVersion ?? false) && from.atLeast === undefined,
    limit: PAGE_LIMIT,
    expired: 0,
    afterRefusal: options.afterRefusal ?? false,
  };
}

function watching(from: Partial<WatchingPhase>, env: Env): WatchingPhase {
  return {
    name: "watching",
    openedAt: env.now,
    events: 0,
    bookmarked: false,
    afterList: from.afterList ?? false,
    serverErrors: from.serverErrors ?? 0,
  };
}

function endsInitialEvents(bookmark: KubeObject): boolean {
  return bookmark.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
}

function errorOf<T extends KubeObject>(input: Input<T>): unknown {
  return input.type === "failed" ? input.error : new Error("the answer ended before it was whole");
}
