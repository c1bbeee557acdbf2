/** Secrets of Vault as keys and values, both byte strings. */
import { bytesOf } from "@quartet/go-template";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type SecretData = Readonly<Record<string, Json>>;

/**
 * Adds what a secret holds below its path. One with nothing but a text named `value` is that text; any other is its JSON,
 * and each of its fields is a key of its own. Lists have no keys.
 */
export function addSecret(path: string, data: SecretData, values: Map<string, string>): void {
  const fields = Object.entries(data);
  const [first] = fields;
  if (fields.length === 1 && first?.[0] === "value" && typeof first[1] === "string") {
    values.set(path, bytesOf(first[1]));
    return;
  }
  values.set(path, bytesOf(JSON.stringify(sorted(data))));
  const waiting: [string, Json][] = fields.map(([name, value]) => [`${path}/${bytesOf(name)}`, value]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [key, value] = next;
    if (typeof value === "string") values.set(key, bytesOf(value));
    else if (typeof value === "number" || typeof value === "boolean") values.set(key, String(value));
    else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) waiting.push([`${key}/${bytesOf(name)}`, inner]);
    }
  }
}

/** With the fields in order, as Go writes them: the same secret is the same text. */
function sorted(data: SecretData): SecretData {
  return Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
