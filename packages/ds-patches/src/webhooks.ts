/** Admission webhooks of DaemonSets. */
import type { Manager } from "@quartet/core";
import { type Mutate, mutating, type Validate, validating, type Webhook } from "@quartet/core/webhook";
import { withDefaults } from "./admission/daemon-set.ts";
import { createJudge } from "./admission/dry-run.ts";
import { mirrored } from "./admission/mirror.ts";
import { review } from "./admission/review.ts";
import { type PodAdmission, podWebhook } from "./companion/admission.ts";
import type { PatchesOf } from "./companion/patches.ts";
import { DAEMON_SET, type DaemonSet } from "./kinds.ts";
import type { ModeFlag } from "./mode/mode.ts";
import type { ModeWatch } from "./mode/watch.ts";
import { createPatchMetrics } from "./reconcile/metrics.ts";

/** What the hooks of a manager share with its controller. */
export interface HookParts {
  readonly mode: ModeWatch;
  /** Patches beside OpenKruise. */
  readonly patchesOf: PatchesOf;
  /** The feature gate is on. */
  readonly patchesEnabled: boolean;
}

/**
 * The webhooks of each mode (DSP-1021 to 1024). What is decided while the manager runs (`auto`) cannot be registered for
 * one mode alone: the hooks of the other one then admit everything as it is, and so does the API server while nobody
 * answers.
 */
export function webhooks(partsOf: (manager: Manager) => HookParts | undefined): Webhook[] {
  const inMode = (flags: readonly ModeFlag[]) => ({ when: { flag: "daemonset-mode", is: flags } });
  const roleOf = (manager: Manager) => role(partsOf(manager)?.mode);
  const owner = [
    { ...inMode(["owner"]), failurePolicy: "Fail" as const },
    { ...inMode(["auto"]), failurePolicy: "Ignore" as const },
  ];
  const both = [...owner, { ...inMode(["companion"]), failurePolicy: "Ignore" as const }];
  return [
    ...owner.map((registration) =>
      mutating<DaemonSet>({
        ...registration,
        kind: DAEMON_SET,
        operations: ["CREATE", "UPDATE"],
        path: "/mutate-apps-kruise-io-daemonset",
        handler: (manager) => (daemonSet, ctx) =>
          roleOf(manager) === "owner" ? complete(daemonSet, ctx) : daemonSet,
      }),
    ),
    ...both.map((registration) =>
      validating<DaemonSet>({
        ...registration,
        kind: DAEMON_SET,
        operations: ["CREATE", "UPDATE"],
        // Path and name are the KEP's (D29).
        path: "/validate-daemonset-patches",
        name: "daemonset-patches.kruise.io",
        handler: (manager) => (daemonSet, ctx) =>
          judged(daemonSet, ctx, {
            mode: roleOf(manager),
            patchesEnabled: partsOf(manager)?.patchesEnabled ?? true,
          }),
      }),
    ),
    podWebhook({ flag: "daemonset-mode", is: ["auto", "companion"] }, (manager) =>
      podAdmission(manager, partsOf),
    ),
  ];
}

/** The pod hook's view of a manager; made once, since its handler is. */
function podAdmission(
  manager: Manager,
  partsOf: (manager: Manager) => HookParts | undefined,
): PodAdmission | undefined {
  const parts = partsOf(manager);
  if (parts === undefined) return undefined;
  const metrics = createPatchMetrics(manager.metrics, "companion");
  const events = manager.events("ds-patches", false);
  return {
    isCompanion: () => parts.mode.current() === "companion",
    patchesOf: parts.patchesOf,
    applied: metrics.applied,
    // Each pod is patched for itself, since others may have changed it before.
    duration: (ms) => metrics.duration(ms, false),
    monotonic: () => manager.clock.monotonic(),
    failed(daemonSet, reason, message) {
      metrics.failed(daemonSet, reason);
      const note = `A pod was admitted without patches: ${message}`;
      events.record(daemonSet as DaemonSet, {
        type: "Warning",
        reason: "FailedApplyPatch",
        note,
        distinct: note,
      });
    },
  };
}

/** Whose rules hold; `none` where somebody else may own the DaemonSets and this process is no companion. */
function role(mode: ModeWatch | undefined): "owner" | "companion" | "none" {
  switch (mode?.current()) {
    case "companion":
      return "companion";
    case "blocked":
      return "none";
    default:
      // Before the mode is known, nobody else is known either.
      return "owner";
  }
}

const complete: Mutate<DaemonSet> = (daemonSet, ctx) => {
  const { daemonSet: next, warning } = mirrored(withDefaults(daemonSet), ctx.old);
  if (warning !== undefined) ctx.warn(warning);
  return next;
};

async function judged(
  ...[daemonSet, ctx, { mode, patchesEnabled }]: [
    ...Parameters<Validate<DaemonSet>>,
    { mode: ReturnType<typeof role>; patchesEnabled: boolean },
  ]
): Promise<Awaited<ReturnType<Validate<DaemonSet>>>> {
  if (mode === "none" || daemonSet.metadata.deletionTimestamp !== undefined) return [];
  const { client, signal, request } = ctx;
  const judge = createJudge({ client, namespace: request.namespace ?? "", signal });
  const { violations, warnings } = await review(daemonSet, ctx.old, { mode, patchesEnabled, judge });
  for (const warning of warnings) ctx.warn(warning);
  return violations;
}
