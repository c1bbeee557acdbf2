/** Contracts of the manager: what it runs and what it hands to controller packages. */
import type { Sources } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { Controller, ControllerBuilder } from "../controller/types.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";

/** Anything with a life of its own beside controllers. */
export interface Runnable {
  readonly name: string;
  /** Default true: runs on the leader only. */
  readonly needLeaderElection?: boolean;
  /** Resolves when the signal aborted and all is put away. */
  run(signal: AbortSignal): Promise<void>;
}

/** What a controller package needs of the manager in order to build its controllers. */
export interface Manager {
  /** On a replica that does not lead its writes are refused, but for those of hooks with side effects. */
  readonly client: Client;
  /** The same one for all modules of a manager. */
  readonly sources: Sources;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly features: Readonly<Record<string, boolean>>;
  /** Namespaces to work in; empty means all. */
  readonly namespaces: readonly string[];
  /**
   * Events under a name.
   * @param needLeaderElection false for work of every replica, which writes them without leading. Default true.
   */
  events(name: string, needLeaderElection?: boolean): EventRecorder;
  /** Starts a builder bound to this manager. */
  controller(name: string): ControllerBuilder;
  /** Runs it with the others; throws when there is work of its name already. */
  add(runnable: Runnable | Controller): void;
  /** True while a Lease held by somebody else keeps changing within its own duration (CORE-268). */
  foreignLease(namespace: string, name: string): Promise<boolean>;
}
