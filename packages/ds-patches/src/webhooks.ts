/** Admission webhooks of DaemonSets. */

import type { Manager } from "@quartet/core";
import { mutating, type Validate, validating, type Webhook } from "@quartet/core/webhook";
import { specViolations, updateViolations, withDefaults } from "./admission/daemon-set.ts";
import { reviewPatches } from "./admission/patches.ts";
import { canonicalJson } from "./desired/canonical.ts";
import { DAEMON_SET, type DaemonSet } from "./kinds.ts";
import type { ModeFlag } from "./mode/mode.ts";
import type { ModeWatch } from "./mode/watch.ts";

/** Finds the mode of a manager. */
type ModeOf = (manager: Manager) => ModeWatch | undefined;

/**
 * The webhooks of each mode (DSP-1021 to 1024). What is decided while the manager runs (`auto`) cannot be registered for
 * one mode alone: the hooks of the other one then admit everything as it is, and so does the API server while nobody
 * answers.
 */
export function webhooks(modeOf: ModeOf): Webhook[] {
  const inMode = (flags: readonly ModeFlag[]) => ({ when: { flag: "daemonset-mode", is: flags } });
  return [
    { ...inMode(["owner"]), failurePolicy: "Fail" as const },
    { ...inMode(["auto"]), failurePolicy: "Ignore" as const },
  ].flatMap((registration) => [
    mutating<DaemonSet>({
      ...registration,
      kind: DAEMON_SET,
      operations: ["CREATE", "UPDATE"],
      path: "/mutate-apps-kruise-io-daemonset",
      handler: (manager) => (daemonSet) => (isOwner(modeOf(manager)) ? withDefaults(daemonSet) : daemonSet),
    }),
    validating<DaemonSet>({
      ...registration,
      kind: DAEMON_SET,
      operations: ["CREATE", "UPDATE"],
      // Path and name are the KEP's (D29).
      path: "/validate-daemonset-patches",
      name: "daemonset-patches.kruise.io",
      handler: (manager) => (daemonSet, ctx) => (isOwner(modeOf(manager)) ? validate(daemonSet, ctx) : []),
    }),
  ]);
}

/** True also before the mode is known: nobody else is then known either. */
function isOwner(mode: ModeWatch | undefined): boolean {
  return ["owner", "waiting"].includes(mode?.current() ?? "waiting");
}

const validate: Validate<DaemonSet> = (daemonSet, ctx) => {
  if (daemonSet.metadata.deletionTimestamp !== undefined) return [];
  const { spec } = daemonSet as DaemonSet;
  const old = ctx.old as DaemonSet | undefined;
  const violations = [...specViolations(daemonSet), ...(old ? updateViolations(daemonSet, old) : [])];
  const isNew =
    canonicalJson([spec.patches, spec.template]) !== canonicalJson([old?.spec.patches, old?.spec.template]);
  if (!isNew || (spec.patches ?? []).length === 0) return violations;
  const { template, selector, patches } = spec;
  const verdict = reviewPatches({ patches, template, selector, path: "spec.patches" });
  for (const warning of verdict.warnings) ctx.warn(warning);
  return [...violations, ...verdict.violations];
};
