/** The one export of a controller package. */

import type { Manager } from "../manager/types.ts";
import type { Kind } from "../object.ts";
import type { Conversion, Webhook } from "../webhook/types.ts";
import type { ModuleCommand, OfflineCommand } from "./commands.ts";
import type { FeatureGate } from "./feature-gate.ts";
import type { FlagValues, ModuleFlag, ValuesOf } from "./flags.ts";
import type { Right } from "./rights.ts";

/** A gate as a module declares it; it belongs to the module. */
export type ModuleGate = Omit<FeatureGate, "owner">;

/** A controller package as the manager sees it. All of it but `build` and the hooks' handlers is known without running. */
export interface ControllerModule {
  /** Canonical name, as in `--controllers=nacos`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Custom resources that it owns. */
  readonly kinds: readonly Kind[];
  /** File names in `crds/` that it needs. */
  readonly crds: readonly string[];
  /** Everything it reads and writes beyond `core` itself (CORE-397). */
  readonly rights: readonly Right[];
  readonly flags: readonly ModuleFlag[];
  /** Feature gates; known to the program even when the module is switched off. */
  readonly gates?: readonly ModuleGate[];
  /** Admission webhooks; absent when there are none. */
  readonly webhooks?: readonly Webhook[];
  /** Conversions between versions of its CRDs; absent when there are none. */
  readonly conversions?: readonly Conversion[];
  /** Commands of the program that it brings along; they are there whether the module is enabled or not. */
  readonly commands?: readonly ModuleCommand[];
  /** Those that need neither a cluster nor settings. */
  readonly offlineCommands?: readonly OfflineCommand[];
  /** Adds its controllers and runnables to the manager. `flags` holds the values of its own flags by name. */
  build(manager: Manager, flags: FlagValues): void;
}

/** A module whose `build` gets its flags by their types. */
export interface ModuleDefinition<F extends readonly ModuleFlag[]>
  extends Omit<ControllerModule, "flags" | "build"> {
  readonly flags: F;
  build(manager: Manager, flags: ValuesOf<F>): void;
}

/** Declares a module; `flags` are typed by their declarations. */
export function defineModule<const F extends readonly ModuleFlag[]>(
  module: ModuleDefinition<F>,
): ControllerModule {
  const { build, ...rest } = module;
  return { ...rest, build: (manager, flags) => build(manager, flags as unknown as ValuesOf<F>) };
}
