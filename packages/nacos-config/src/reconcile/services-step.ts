/** Creates and repairs the Services. */
import type { DeepReadonly } from "@quartet/core";
import { SERVICE, type StatefulSet } from "@quartet/core/kinds";
import { fixedLabels } from "../desired/names.ts";
import { servicePlans } from "../desired/services.ts";
import { isForcedAdoption } from "../desired/settings.ts";
import { failureOf } from "./failure.ts";
import type { Pass } from "./pass.ts";

/** Ensures all Services; a failure of one does not keep the others from being written. */
export async function servicesStep(
  { resource, settings, children, failures }: Pass,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): Promise<void> {
  const selector = statefulSet?.spec.selector.matchLabels ?? fixedLabels(settings.name);
  const force = isForcedAdoption(resource);
  for (const plan of servicePlans(settings, selector)) {
    const name = plan.created.metadata.name ?? "";
    const { problem } = await children.ensure(
      { kind: SERVICE, name, force },
      {
        create: () => plan.created,
        update: (live) => plan.updated(live).object,
      },
    );
    if (problem !== undefined) failures.push(failureOf(problem));
  }
}
