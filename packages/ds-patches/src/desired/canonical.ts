/** Canonical JSON (DSP-601): the same text for the same value, whatever the order of keys. */

/** Key order of UTF-8 bytes: JavaScript's own compares UTF-16 units, which differs above U+FFFF. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
}

/** Keys sorted by their UTF-8 bytes, no white space, no HTML escapes, integers without exponent. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(",")}]`;
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => compareKeys(a, b));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}

function numberText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
}

/** Size of a value in bytes of its compact JSON, as the limit of a patch counts it (D6). */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(canonicalJson(value), "utf8");
}
