/** What a manager is made of, and the handle on it. */
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { ControllerObserver } from "../controller/observer.ts";
import type { Controller, ControllerOptions } from "../controller/types.ts";
import type { FlagValues } from "../module/flags.ts";
import type { ControllerModule } from "../module/module.ts";
import type { ObjectKey } from "../object.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Logger } from "../observe/types.ts";
import type { ExitCode } from "./errors.ts";
import type { HealthCheck } from "./health-check.ts";
import type { LeaseTimings } from "./lease-timings.ts";
import type { Manager } from "./types.ts";

/** A module as the manager tells it from others: by the object, not by what it or its controllers are called. */
export type ModuleIdentity = Pick<ControllerModule, "name" | "rights">;

/** A server of the manager: probes, metrics or webhooks. */
export interface ManagerServer {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Webhooks, with the check that goes into `/readyz`. */
export interface ManagerWebhooks extends ManagerServer {
  readonly check: HealthCheck;
}

export interface ManagerOptions {
  client: Client;
  cache: Cache;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** All options of a controller, given the module that builds it, if any, and those that its author chose. */
  controllerOptions: (
    module: ModuleIdentity | undefined,
    declared: ControllerOptions,
  ) => Required<ControllerOptions>;
  controllerObserver?: ControllerObserver;
  /** Go on after a programming error in a reconcile. */
  recoverPanic: boolean;
  /** True for modules that only plan their writes. Default: none does. */
  runsDry?: (module: ModuleIdentity) => boolean;
  /** Feature gates by name. */
  features: Readonly<Record<string, boolean>>;
  /** Empty means all. */
  namespaces: readonly string[];
  /** Unique name of this process, `<hostname>_<uuid>`. */
  identity: string;
  /** Name of the pod or machine, for events. */
  instance: string;
  /** Absent: this process leads from the start. */
  election?: LeaseTimings & { lease: ObjectKey; releaseOnCancel: boolean };
  /** Checks rights; runs before anything else. */
  preflight?: () => Promise<void>;
  /** Probes and metrics, started first and stopped last. */
  servers: readonly ManagerServer[];
  webhooks?: ManagerWebhooks;
  /** Keep caches warm while others lead. */
  warmup: boolean;
  /** Longest wait for the caches of a controller, milliseconds. */
  cacheSyncTimeoutMs: number;
  /** Milliseconds; 0 waits for no reconcile, less than 0 sets no limit. */
  gracefulShutdownTimeoutMs: number;
  /** Milliseconds that webhooks are served after the stop began. */
  shutdownDelayMs: number;
}

/** How a manager ended. */
export interface ManagerEnd {
  readonly code: ExitCode;
  /** Why, unless it was asked to. */
  readonly error?: unknown;
  /** Reconciles that did not end in time, as `controller: namespace/name`. */
  readonly stuck: readonly string[];
}

/** A manager and its controls. */
export interface ManagerHandle extends Manager {
  readonly cache: Cache;
  /** Resolves when all that needs no leadership runs and the election has begun; rejects when something fails. */
  start(): Promise<void>;
  /** Stops in order; repeated calls give the same promise. */
  stop(): Promise<ManagerEnd>;
  /** Stops in order because of an error, which decides the exit code. */
  fail(error: unknown): Promise<ManagerEnd>;
  /** Resolves when the manager has ended, for whatever reason. */
  readonly ended: Promise<ManagerEnd>;
  /** Resolves when this process has begun to lead. */
  readonly leading: Promise<void>;
  isLeader(): boolean;
  /** Checks of the probes; live views. */
  readonly healthz: ReadonlyMap<string, HealthCheck>;
  readonly readyz: ReadonlyMap<string, HealthCheck>;
  controllers(): readonly Controller[];
  /**
   * This manager as a module sees it: whatever is built with it belongs to the module, and one that runs dry writes
   * nothing by `client` either. `flags` are those that its rights name namespaces by. Throws for a second module of one
   * name.
   */
  forModule(module: ModuleIdentity, flags?: FlagValues): Manager;
  /** The module that built a controller; `undefined` when it was built by none. */
  moduleOf(controller: Controller): ModuleIdentity | undefined;
  /** What is known of an object, for `quartet explain`; see `explain`. */
  explain(kind: string, key: string): Record<string, unknown> | string;
}
