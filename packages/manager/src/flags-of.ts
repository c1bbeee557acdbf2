/** Flag values for a module: by the names that it declared. */
import type { ControllerModule, FlagValues } from "@quartet/core";
import type { ManagerSettings } from "./config/settings.ts";

/** Values of the module's own flags. */
export function flagsOf(module: ControllerModule, settings: ManagerSettings): FlagValues {
  return Object.fromEntries(module.flags.map(({ name }) => [name, settings.moduleFlags[name]!]));
}

/** The modules that are switched on. */
export function enabledModules(
  modules: readonly ControllerModule[],
  settings: ManagerSettings,
): ControllerModule[] {
  return modules.filter((module) => settings.controllers.includes(module.name));
}
