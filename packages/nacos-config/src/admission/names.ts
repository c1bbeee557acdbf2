/** Forms of Kubernetes names. */

/** Longest name of a Service (DNS label). */
export const MAX_LABEL_LENGTH = 63;
/** Longest name of a ConfigMap or Secret (DNS subdomain). */
const MAX_SUBDOMAIN_LENGTH = 253;

/** DNS-1035 label: what Services are named. */
export function isDnsLabel(name: string): boolean {
  return name.length <= MAX_LABEL_LENGTH && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** DNS-1123 subdomain: what most objects are named. */
export function isDnsSubdomain(name: string): boolean {
  const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  return name.length <= MAX_SUBDOMAIN_LENGTH && new RegExp(`^${label}(\\.${label})*$`).test(name);
}

/** Key of a ConfigMap or Secret. */
export function isConfigKey(key: string): boolean {
  return key.length <= MAX_SUBDOMAIN_LENGTH && /^[-._a-zA-Z0-9]+$/.test(key) && key !== "." && key !== "..";
}
