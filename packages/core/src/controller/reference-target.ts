/** What a reference names, once it is known that an object can be called so. */
import type { Projection } from "../cache/types.ts";
import { isDnsSubdomain } from "../helpers/names.ts";
import { apiVersionOf, type Kind, type ObjectKey } from "../object.ts";
import type { Reference } from "./types.ts";

/** Keys and values of labels as the API server takes them. */
const LABEL_KEY = /^(?:[a-z0-9][a-z0-9.-]{0,252}\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export interface Target {
  /** Equal for references to the same. */
  readonly id: string;
  readonly kind: Kind;
  readonly namespace: string;
  /** Absent for a selection. */
  readonly name?: string;
  /** Selector of a selection. */
  readonly labelSelector?: string;
  readonly projection?: Projection;
}

/** What of a declaration decides about its references. */
interface Declaration {
  readonly kind: Kind;
  readonly elsewhere: boolean;
  readonly projection?: Projection | undefined;
}

/**
 * Target of a reference of a resource in the namespace `own`; `undefined` when no object can be called so, or when it
 * lies outside of that namespace without being allowed to.
 */
export function targetOf(
  reference: Reference,
  { kind, elsewhere, projection }: Declaration,
  own: string,
): Target | undefined {
  const given = typeof reference === "string" ? { name: reference } : reference;
  const namespace = given.namespace ?? own;
  if (kind.namespaced && !elsewhere && namespace !== own) return undefined;
  if ("name" in given) return nameTarget(kind, { namespace, name: given.name });
  if (!isNamespace(kind, namespace)) return undefined;
  const labels = Object.entries(given.labels).sort(([a], [b]) => (a < b ? -1 : 1));
  if (labels.length === 0) return undefined;
  if (!labels.every(([key, value]) => LABEL_KEY.test(key) && LABEL_VALUE.test(value))) return undefined;
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(",");
  const id = JSON.stringify([apiVersionOf(kind), kind.kind, namespace, { labelSelector }]);
  return { id, kind, namespace, labelSelector, ...(projection && { projection }) };
}

/** Target of a single object; `undefined` when no object can have that name. */
function nameTarget(kind: Kind, { namespace, name }: ObjectKey): Target | undefined {
  if (!isDnsSubdomain(name) || !isNamespace(kind, namespace)) return undefined;
  const place = kind.namespaced ? namespace : "";
  return { id: JSON.stringify([apiVersionOf(kind), kind.kind, place, name]), kind, namespace: place, name };
}

/** The target of an id in words: `Secret ns/name`, or `Secret ns/app=web` for a selection. */
export function describeTarget(id: string): string {
  const [, kind, namespace, what] = JSON.parse(id) as [
    string,
    string,
    string,
    string | { labelSelector: string },
  ];
  const name = typeof what === "string" ? what : what.labelSelector;
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

const isNamespace = ({ namespaced }: Kind, namespace: string): boolean =>
  !namespaced || (isDnsSubdomain(namespace) && !namespace.includes("."));
