/** Names of Kubernetes objects that settings hold. */

/** One label of a name (RFC 1123). */
const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const NAMESPACE = new RegExp(`^${LABEL}$`);
const OBJECT_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
/** Longest label and longest name (RFC 1123). */
const MAX_LABEL = 63;
const MAX_NAME = 253;

/** Whether most objects can have that name (DNS-1123 subdomain). */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= MAX_NAME && OBJECT_NAME.test(name);
}

/** The text, when a namespace can have that name; what no namespace can be called would be watched in vain. */
export function parseNamespace(text: string): string {
  if (NAMESPACE.test(text) && text.length <= MAX_LABEL) return text;
  throw new Error(
    `${JSON.stringify(text)} cannot be the name of a namespace: write at most ${MAX_LABEL} lower-case letters, digits and dashes`,
  );
}

/** The text, when an object such as a Lease can have that name. */
export function parseObjectName(text: string): string {
  if (isDnsSubdomain(text)) return text;
  throw new Error(
    `${JSON.stringify(text)} cannot be the name of an object: write at most ${MAX_NAME} lower-case letters, digits, dashes and dots`,
  );
}
