/** Contracts of the manager: what it runs and what it hands to controller packages. */
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { Controller, ControllerBuilder, RightsRule } from "../controller/types.ts";
import type { Kind } from "../object.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { Conversion, Webhook } from "../webhook/types.ts";

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
  readonly client: Client;
  readonly cache: Cache;
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

/** A flag that a controller package adds to the manager's own, such as `--nacos-resync`. */
export interface ModuleFlag {
  /** Flag name without dashes; also config-file field and, upper-cased with `QUARTET_`, environment variable. */
  readonly name: string;
  readonly type: "string" | "boolean" | "number" | "duration";
  /** Text form, as it would stand on the command line. */
  readonly default: string;
  readonly help: string;
}

/** The one export of a controller package. */
export interface ControllerModule {
  /** Canonical name, as in `--controllers=nacos`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Custom resources that it owns. */
  readonly kinds: readonly Kind[];
  /** File names in `crds/` that it needs. */
  readonly crds: readonly string[];
  /** Everything it reads and writes beyond `core` itself (CORE-397). */
  readonly rights: readonly RightsRule[];
  readonly flags: readonly ModuleFlag[];
  /** Admission webhooks; absent when there are none. Asked once, after `build`. */
  readonly webhooks?: (
    manager: Manager,
    flags: Readonly<Record<string, string | number | boolean>>,
  ) => readonly Webhook[];
  /** Conversions between versions of its CRDs; absent when there are none. */
  readonly conversions?: readonly Conversion[];
  /** Adds its controllers and runnables to the manager. `flags` holds the parsed values by flag name. */
  build(manager: Manager, flags: Readonly<Record<string, string | number | boolean>>): void;
}
