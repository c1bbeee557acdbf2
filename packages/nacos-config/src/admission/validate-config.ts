/** Checks of the configuration references. */
import type { Settings } from "../desired/settings.ts";
import { isConfigKey, isDnsSubdomain } from "./names.ts";
import type { Violation } from "./violation.ts";

/** Faults of the references and of the generated object's name and kind. */
export function configViolations({ config, spec }: Settings): Violation[] {
  if (config.mode !== "merged") return [];
  const violations: Violation[] = [];
  const add = (path: string, reason: string, message: string): void => {
    violations.push({ path, reason, message });
  };
  for (const { field, name, key, kind } of config.sources) {
    if (!isDnsSubdomain(name)) add(`spec.${field}.name`, "NameInvalid", `"${name}" cannot name a ${kind}`);
    if (!isConfigKey(key)) add(`spec.${field}.key`, "KeyInvalid", `"${key}" cannot be a key of a ${kind}`);
    if (name === config.finalName && kind === config.finalKind) {
      const message = `${kind} ${name} is the generated object itself: refer to another, or change finalConfigName`;
      add(`spec.${field}`, "ConfigLoop", message);
    }
  }
  if (!isDnsSubdomain(config.finalName)) {
    add("spec.finalConfigName", "NameInvalid", `"${config.finalName}" cannot name a ${config.finalKind}`);
  }
  if (spec.finalConfigKind === "ConfigMap" && config.sources.some(({ kind }) => kind === "Secret")) {
    const message =
      "a Secret source must not end in a ConfigMap: leave finalConfigKind out, or set it to Secret";
    add("spec.finalConfigKind", "SecretLeak", message);
  }
  return violations;
}
