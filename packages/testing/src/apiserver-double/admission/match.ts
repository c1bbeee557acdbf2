/** Which webhooks a request concerns, and in which version they see its object. */
import type { Call } from "../call.ts";
import { items, type JsonObject, record, records, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { Registry, ResourceType } from "../registry.ts";
import type { Store } from "../store.ts";
import { selectorMatches } from "../strategies/validation.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

function listed(list: unknown, value: string): boolean {
  return items(list).some((entry) => entry === "*" || entry === value);
}

function resourceListed(list: unknown, plural: string, subresource: string): boolean {
  return items(list).some((entry) => {
    const [resource = "", sub = ""] = text(entry).split("/");
    const any = text(entry) === "*/*";
    if (any) return true;
    if (resource !== "*" && resource !== plural) return false;
    return sub === subresource || (sub === "*" && subresource !== "");
  });
}

function ruleMatches(
  rule: JsonObject,
  type: ResourceType,
  subresource: string,
  operation: Operation,
): boolean {
  if (!listed(rule.operations, operation) || !listed(rule.apiGroups, type.group)) return false;
  if (!listed(rule.apiVersions, type.version) || !resourceListed(rule.resources, type.plural, subresource))
    return false;
  const scope = text(rule.scope);
  return scope === "" || scope === "*" || (scope === "Namespaced") === type.namespaced;
}

/** Labels that the namespace selector looks at; `undefined` for cluster-scoped objects, which it does not concern. */
function namespaceLabels(store: Store, call: Call, object: KubeObject): Record<string, string> | undefined {
  if (call.type.collection === "namespaces") return object.metadata.labels ?? {};
  if (!call.type.namespaced) return undefined;
  return store.get("namespaces", keyOf("", call.namespace))?.metadata.labels ?? {};
}

function objectMatches(selector: unknown, objects: readonly (KubeObject | undefined)[]): boolean {
  return objects.some(
    (object) => object !== undefined && selectorMatches(selector, object.metadata.labels ?? {}),
  );
}

/**
 * The version of a resource that a webhook's rules name: the one of the request, else with `matchPolicy: Equivalent`, the
 * default, the first other version that is served.
 */
function versionNamed(
  registry: Registry,
  hook: JsonObject,
  { type, subresource }: Call,
  operation: Operation,
): ResourceType | undefined {
  const named = (version: ResourceType): boolean =>
    records(hook.rules).some((rule) => ruleMatches(rule, version, subresource, operation));
  if (named(type)) return type;
  if (hook.matchPolicy === "Exact" || type.custom === undefined) return undefined;
  return registry.all().find((version) => version.collection === type.collection && named(version));
}

/** The version in which a webhook sees the object of a request; `undefined` when it is not called. */
export function versionSeen(
  { store, registry }: { store: Store; registry: Registry },
  hook: JsonObject,
  call: Call,
  operation: Operation,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): ResourceType | undefined {
  if (call.type.group === "admissionregistration.k8s.io") return undefined;
  const labels = namespaceLabels(store, call, (object ?? old)!);
  if (labels !== undefined && !selectorMatches(record(hook.namespaceSelector), labels)) return undefined;
  if (!objectMatches(record(hook.objectSelector), [object, old])) return undefined;
  return versionNamed(registry, hook, call, operation);
}
