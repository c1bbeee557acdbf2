/** Creates and repairs the Services. */
import type { DeepReadonly } from "@quartet/core";
import type { Service, StatefulSet } from "../desired/k8s.ts";
import { fixedLabels } from "../desired/names.ts";
import { claimOf } from "../desired/ownership.ts";
import { type ServicePlan, servicePlans } from "../desired/services.ts";
import { SERVICE } from "../kinds.ts";
import type { StepFailure } from "../status/outcome.ts";
import { ensure } from "./ensure.ts";
import { claimFailure, stepFailure } from "./failure.ts";
import { childOptions, type Pass } from "./pass.ts";

/** Ensures all Services; a failure of one does not keep the others from being written. */
export async function servicesStep(
  pass: Pass,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): Promise<void> {
  const selector = statefulSet?.spec.selector.matchLabels ?? fixedLabels(pass.settings.name);
  for (const plan of servicePlans(pass.resource, pass.settings, selector)) {
    const failure = await ensureService(pass, plan);
    if (failure !== undefined) pass.failures.push(failure);
  }
}

async function ensureService(pass: Pass, plan: ServicePlan): Promise<StepFailure | undefined> {
  const name = plan.created.metadata.name!;
  const subject = `Service ${name}`;
  try {
    const options = childOptions(pass, SERVICE, pass.informers.services, name);
    const { result } = await ensure<Service, StepFailure | undefined>(options, (live) => {
      if (live === undefined) return { action: "create", object: plan.created, result: undefined };
      const refused = claimFailure(subject, claimOf(live, pass.resource, true));
      if (refused !== undefined) return { action: "none", result: refused };
      const { object, changed } = plan.updated(live);
      return changed
        ? { action: "update", object, result: undefined }
        : { action: "none", result: undefined };
    });
    return result;
  } catch (error) {
    return stepFailure(subject, error);
  }
}
