/** Forms of Kubernetes names. */
import { mysqlInitName } from "../desired/names.ts";

/** Longest name of a Service (DNS label). */
export const MAX_LABEL_LENGTH = 63;
/**
 * Longest name of a StatefulSet whose pods can be created: each carries the label `controller-revision-hash` with the
 * name, a dash and up to ten characters.
 */
export const MAX_NODE_NAME_LENGTH: number = MAX_LABEL_LENGTH - 11;
/** Longest key of a ConfigMap or Secret. */
const MAX_KEY_LENGTH = 253;

/** DNS-1035 label: what Services are named. */
export function isDnsLabel(name: string): boolean {
  return name.length <= MAX_LABEL_LENGTH && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** Key of a ConfigMap or Secret. */
export function isConfigKey(key: string): boolean {
  return key.length <= MAX_KEY_LENGTH && /^[-._a-zA-Z0-9]+$/.test(key) && key !== "." && key !== "..";
}

/** Why the Job that initialises MySQL cannot be named after a resource: its pods carry the name as a label. */
export function mysqlInitNameFault(name: string): string | undefined {
  const job = mysqlInitName(name);
  if (job.length <= MAX_LABEL_LENGTH) return undefined;
  const limit = MAX_LABEL_LENGTH - mysqlInitName("").length;
  return `"${name}" is too long for the Job ${job} of spec.mysqlInitImage: it must have at most ${limit} characters, it has ${name.length}; take a shorter name, or remove mysqlInitImage and create the schema yourself`;
}
