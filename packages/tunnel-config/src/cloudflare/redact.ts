/** Texts of others, without what must not be seen. */

/** Replaces every secret in the text. Servers may echo what they were sent. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, "<secret>"), text);
}
