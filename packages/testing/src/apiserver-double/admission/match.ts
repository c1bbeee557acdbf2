/** Which webhooks a request concerns. */
import type { Call } from "../call.ts";
import { items, type JsonObject, record, records, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
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

function ruleMatches(rule: JsonObject, call: Call, operation: Operation): boolean {
  const { type, subresource } = call;
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

export function concerns(
  store: Store,
  hook: JsonObject,
  call: Call,
  operation: Operation,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): boolean {
  if (call.type.group === "admissionregistration.k8s.io") return false;
  if (!records(hook.rules).some((rule) => ruleMatches(rule, call, operation))) return false;
  const labels = namespaceLabels(store, call, (object ?? old)!);
  if (labels !== undefined && !selectorMatches(record(hook.namespaceSelector), labels)) return false;
  return objectMatches(record(hook.objectSelector), [object, old]);
}
