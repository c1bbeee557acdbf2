/**
 * Carries a change onto a live pod template: the difference between the template as it was generated last and as it is
 * generated now. Whatever else the live one holds stays as it is.
 */
import { createTwoWayPatch, strategicMerge, type TypeName } from "@quartet/strategic-merge";
import type { Container, PodTemplate } from "./k8s.ts";
import { itemsOf } from "./wrapper/keyed.ts";

const POD_TEMPLATE = "PodTemplateSpec" as TypeName;

/**
 * `live` with the changes from `last` to `next`, by the strategic merge of a pod template. Throws a
 * StrategicMergeError when an element of a list lacks the field that tells it apart.
 */
export function carryOver(last: PodTemplate, next: PodTemplate, live: PodTemplate): PodTemplate {
  const patch = createTwoWayPatch(POD_TEMPLATE, last, next) as { spec?: Partial<PodTemplate["spec"]> };
  return strategicMerge(POD_TEMPLATE, withoutShadowed(live, patch.spec ?? {}), patch);
}

/**
 * The template without variables that a later one of the same name shadows, as far as the patch sets them: it sets the
 * first of several, and the last is the one that counts.
 */
function withoutShadowed(live: PodTemplate, patch: Partial<PodTemplate["spec"]>): PodTemplate {
  const clean = (field: "containers" | "initContainers"): Container[] | undefined =>
    live.spec[field]?.map((container) => {
      const change = patch[field]?.find(({ name }) => name === container.name);
      const touched = new Set(itemsOf(change?.env).map(({ name }) => name));
      const env = container.env?.filter(
        ({ name }, at, all) => !touched.has(name) || all.findLastIndex((other) => other.name === name) === at,
      );
      return env === undefined ? container : { ...container, env };
    });
  const initContainers = clean("initContainers");
  return {
    ...live,
    spec: {
      ...live.spec,
      containers: clean("containers") ?? [],
      ...(initContainers === undefined ? {} : { initContainers }),
    },
  };
}
