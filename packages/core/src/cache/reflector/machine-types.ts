/** Phases, inputs and effects of the reflector's state machine; see `machine.ts`. */
import type { WatchEvent } from "../../client/types.ts";
import type { KubeList, KubeObject } from "../../object.ts";
import type { SourceState } from "../types.ts";
import type { Backoff } from "./faults.ts";

/** Why the whole collection is read: label of `quartet_reflector_lists_total`. */
export type ListReason = "initial" | "expired" | "error" | "fallback" | "returned";

export interface ListGoal {
  readonly reason: ListReason;
  /** The answer must be at least as new; absent: the newest. */
  readonly atLeast?: string;
}

export interface ListingPhase extends ListGoal {
  readonly name: "listing";
  /** Accept whatever version the server has at hand (`resourceVersion=0`), for servers before 1.31. */
  readonly anyVersion: boolean;
  readonly limit: number;
  /** Go on from here instead of from the start. */
  readonly token?: string;
  /** Version of the first page, from which the watch must start. */
  readonly firstVersion?: string;
  readonly expired: number;
  /** This list stands in for a streaming list that was refused. */
  readonly afterRefusal: boolean;
}

export interface WatchingPhase {
  readonly name: "watching";
  readonly openedAt: number;
  readonly events: number;
  /** Saw a periodic bookmark, so silence is suspicious. */
  readonly bookmarked: boolean;
  /** The first watch after a list, or one that follows it without an event in between. */
  readonly afterList: boolean;
  /** 500s since the last event. */
  readonly serverErrors: number;
}

export type Phase =
  | ({ readonly name: "start" } & ListGoal)
  | ({ readonly name: "streaming"; readonly serverErrors: number } & ListGoal)
  | ListingPhase
  | WatchingPhase
  | { readonly name: "waiting"; readonly ms: number; readonly next: Phase };

export interface MachineState {
  readonly phase: Phase;
  /** Resource version that the store stands at. */
  readonly version: string | undefined;
  readonly backoff: Backoff;
}

/** What happened. Any input but `event` and `page` means that the current request is over. */
export type Input<T extends KubeObject> =
  | { readonly type: "server"; readonly streaming: boolean; readonly consistentLists: boolean }
  | { readonly type: "event"; readonly event: WatchEvent<T> }
  | { readonly type: "page"; readonly page: KubeList<T> }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "silent" }
  | { readonly type: "woke" };

/** What is to be done, in this order, before the next input. */
export type Effect<T extends KubeObject> =
  /** A list begins: empty the side store. */
  | { readonly type: "begin"; readonly reason: ListReason }
  | { readonly type: "stage"; readonly objects: readonly T[] }
  | { readonly type: "unstage"; readonly object: T }
  /** The side store is whole: it replaces the store. */
  | { readonly type: "swap"; readonly version: string }
  | { readonly type: "upsert" | "remove"; readonly object: T }
  /** The stream has reached this version. */
  | { readonly type: "position"; readonly version: string }
  | { readonly type: "silence"; readonly stall: boolean }
  | { readonly type: "streaming-refused"; readonly error: unknown }
  | { readonly type: "streaming-allowed" }
  | {
      readonly type: "absent";
      readonly state: Extract<SourceState, "waiting-for-kind" | "forbidden">;
      readonly error: unknown;
    }
  | { readonly type: "failed"; readonly error: unknown; readonly delayMs: number };

export interface Env {
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly random: () => number;
  /** Wait for a missing kind or right. */
  readonly absentRetryMs: number;
}

export interface Step<T extends KubeObject> {
  readonly state: MachineState;
  readonly effects: readonly Effect<T>[];
}
