/** Checks of the configuration references. */
import { isDnsSubdomain } from "@quartet/core";
import { authSecretName, mysqlInitName } from "../desired/names.ts";
import type { Settings } from "../desired/settings.ts";
import type { ConfigKind } from "../kinds.ts";
import { isConfigKey } from "./names.ts";
import type { Violation } from "./violation.ts";

/** Faults of the references and of the generated object's name and kind. */
export function configViolations({ name: resourceName, config, spec }: Settings): Violation[] {
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
  if (ownNames(resourceName)[config.finalKind].includes(config.finalName)) {
    const message = `${config.finalKind} ${config.finalName} is another object of this resource: take a different name`;
    add("spec.finalConfigName", "NameInvalid", message);
  }
  if (spec.finalConfigKind === "ConfigMap" && config.sources.some(({ kind }) => kind === "Secret")) {
    const message =
      "a Secret source must not end in a ConfigMap: leave finalConfigKind out, or set it to Secret";
    add("spec.finalConfigKind", "SecretLeak", message);
  }
  return violations;
}

/** Objects that the resource may have beside its configuration: two contents in one object would take turns for ever. */
function ownNames(name: string): Readonly<Record<ConfigKind, readonly string[]>> {
  return { ConfigMap: [mysqlInitName(name)], Secret: [authSecretName(name)] };
}
