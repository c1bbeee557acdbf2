/**
 * Carries a change onto a live pod template: the difference between the template as it was generated last and as it is
 * generated now. Whatever else the live one holds stays as it is.
 */
import { createTwoWayPatch, strategicMerge, type TypeName } from "@quartet/strategic-merge";
import { itemsOf, type JsonMap } from "./json.ts";

const POD_TEMPLATE: TypeName = "PodTemplateSpec";

/** As much of a pod template as is looked at. */
interface Template {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: JsonMap;
}

/**
 * `live` with the changes from `last` to `next`, by the strategic merge of a pod template. Throws a
 * StrategicMergeError when an element of a list lacks the field that tells it apart.
 */
export function carryTemplate<T extends Template>(last: T, next: T, live: T): T {
  const patch = createTwoWayPatch(POD_TEMPLATE, last, next) as { spec?: JsonMap };
  return strategicMerge(POD_TEMPLATE, withoutShadowed(live, patch.spec ?? {}), patch) as T;
}

/**
 * The template without variables that a later one of the same name shadows, as far as the patch sets them: it sets the
 * first of several, and the last is the one that counts.
 */
function withoutShadowed<T extends Template>(live: T, patch: JsonMap): T {
  const spec: JsonMap = { ...live.spec };
  for (const list of ["containers", "initContainers"]) {
    if (!Array.isArray(live.spec[list])) continue;
    const changes = new Map(itemsOf(patch[list]).map((change) => [change.name, change]));
    spec[list] = itemsOf(live.spec[list]).map((container) => {
      const touched = new Set(itemsOf(changes.get(container.name)?.env).map(({ name }) => name));
      if (touched.size === 0) return container;
      const env = itemsOf(container.env);
      const last = new Map(env.map(({ name }, at) => [name, at]));
      return { ...container, env: env.filter(({ name }, at) => !touched.has(name) || last.get(name) === at) };
    });
  }
  return { ...live, spec };
}

/**
 * A generated template in the place of a live one: with the live labels, which a selector may need, and with the
 * annotations of others.
 * @param own annotations that the generator alone sets: what it no longer sets goes
 */
export function overLive<T extends Template>(template: T, live: T, own: readonly string[]): T {
  const others = Object.entries(live.metadata?.annotations ?? {}).filter(([key]) => !own.includes(key));
  return {
    ...template,
    metadata: {
      ...live.metadata,
      labels: { ...live.metadata?.labels, ...template.metadata?.labels },
      annotations: { ...Object.fromEntries(others), ...template.metadata?.annotations },
    },
  };
}
