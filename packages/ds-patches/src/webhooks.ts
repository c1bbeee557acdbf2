/** Admission webhooks of DaemonSets. */
import { mutating, validating, type Webhook } from "@quartet/core/webhook";
import { specViolations, updateViolations, withDefaults } from "./admission/daemon-set.ts";
import { reviewPatches } from "./admission/patches.ts";
import { canonicalJson } from "./desired/canonical.ts";
import { DAEMON_SET, type DaemonSet } from "./kinds.ts";

export const WEBHOOKS: readonly Webhook[] = [
  mutating<DaemonSet>({
    kind: DAEMON_SET,
    operations: ["CREATE", "UPDATE"],
    path: "/mutate-apps-kruise-io-daemonset",
    handler: () => withDefaults,
  }),
  validating<DaemonSet>({
    kind: DAEMON_SET,
    operations: ["CREATE", "UPDATE"],
    // Path and name are the KEP's (D29).
    path: "/validate-daemonset-patches",
    name: "daemonset-patches.kruise.io",
    handler: () => (daemonSet, ctx) => {
      if (daemonSet.metadata.deletionTimestamp !== undefined) return [];
      const { spec } = daemonSet as DaemonSet;
      const old = ctx.old as DaemonSet | undefined;
      const violations = [...specViolations(daemonSet), ...(old ? updateViolations(daemonSet, old) : [])];
      const isNew =
        canonicalJson([spec.patches, spec.template]) !==
        canonicalJson([old?.spec.patches, old?.spec.template]);
      if (!isNew || (spec.patches ?? []).length === 0) return violations;
      const { template, selector, patches } = spec;
      const verdict = reviewPatches({ patches, template, selector, path: "spec.patches" });
      for (const warning of verdict.warnings) ctx.warn(warning);
      return [...violations, ...verdict.violations];
    },
  }),
];
