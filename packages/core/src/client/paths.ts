/** Request paths and queries. */
import type { Kind, ObjectKey } from "../object.ts";
import { InvalidRequestError } from "./errors.ts";

/** Query parameters; `undefined` and `""` are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path of a kind's collection, of one namespace or of all (`""`). */
export function collectionPath(kind: Kind, namespace: string): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return kind.namespaced && namespace !== ""
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`
    : `${root}/${kind.plural}`;
}

/** Path of one object, or of its subresource. Names are encoded, never changed. */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  if (key.name === "")
    throw new InvalidRequestError(`${kind.kind}: the object has no name; set metadata.name`);
  for (const segment of [key.name, key.namespace]) {
    if (segment !== "." && segment !== "..") continue;
    throw new InvalidRequestError(
      `${kind.kind}: ${JSON.stringify(segment)} cannot be a name, it would change the path`,
    );
  }
  requireNamespace(kind, key);
  const path = `${collectionPath(kind, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Throws when a namespaced kind is to be written or read by name without a namespace. */
export function requireNamespace(kind: Kind, key: ObjectKey): void {
  if (kind.namespaced && key.namespace === "") {
    throw new InvalidRequestError(
      `${kind.kind} ${JSON.stringify(key.name)} is namespaced but no namespace was given; set metadata.namespace`,
    );
  }
}

/** `?a=b&c=d`, or `""` when nothing is set. */
export function queryString(query: Query): string {
  let text = "";
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}
