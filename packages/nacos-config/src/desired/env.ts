/** Environment variables: how lists of them are put together. */
import type { EnvVar } from "@quartet/core/kinds";

/** Where a variable's value comes from: the spec itself, or a Secret. */
export type EnvSource = Pick<EnvVar, "value"> | Pick<EnvVar, "valueFrom">;

export function fromSecret(name: string, key: string): EnvSource {
  return { valueFrom: { secretKeyRef: { name, key } } };
}

/**
 * The variables of `base` with those of `overrides` laid over them: an override takes its place in the list, new
 * names follow behind. An override without value changes nothing; of equal names in one list the last counts.
 */
export function overrideEnv(base: readonly EnvVar[], overrides: readonly EnvVar[]): EnvVar[] {
  const result = [...base];
  for (const override of lastOfEach(overrides)) {
    const at = result.findIndex((variable) => variable.name === override.name);
    if (at < 0) result.push(override);
    else if (override.valueFrom !== undefined || (override.value ?? "") !== "") result[at] = override;
  }
  return result;
}

/** One variable a name, in the place of the first of that name: the last, as for the container runtime. */
function lastOfEach(list: readonly EnvVar[]): EnvVar[] {
  return [...new Map(list.map((variable) => [variable.name, variable])).values()];
}

/** The user's variables, then the operator's, which win over user's of the same name. */
export function containerEnv(user: readonly EnvVar[], operator: readonly EnvVar[]): EnvVar[] {
  const owned = new Set(operator.map((variable) => variable.name));
  return [...lastOfEach(user).filter((variable) => !owned.has(variable.name)), ...operator];
}
