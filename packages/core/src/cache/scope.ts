/** What an informer covers. */
import { apiVersionOf, type Kind, type KubeObject } from "../object.ts";
import { projectionName } from "./store/projections.ts";

import type { InformerOptions, Projection, SizeLimits } from "./types.ts";

export interface Scope<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Sorted; empty for all. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly projection: Projection<T>;
  readonly limits: SizeLimits | undefined;
}

/** The scope that options ask for; `defaults` are the cache's own namespaces. */
export function scopeOf<T extends KubeObject>(
  kind: Kind<T>,
  options: InformerOptions<T>,
  defaults: readonly string[],
): Scope<T> {
  const asked = options.namespaces?.length ? options.namespaces : defaults;
  return {
    kind,
    namespaces: kind.namespaced ? [...new Set(asked)].sort() : [],
    labelSelector: options.labelSelector || undefined,
    fieldSelector: options.fieldSelector || undefined,
    projection: options.projection ?? "full",
    limits: options.limits,
  };
}

/** Group, version and resource: `pods.v1`, `deployments.v1.apps`. */
export function resourceName(kind: Kind): string {
  return kind.group === ""
    ? `${kind.plural}.${kind.version}`
    : `${kind.plural}.${kind.version}.${kind.group}`;
}

/** Equal for scopes whose informers differ at most in how much of each object they keep. */
export function scopeId(scope: Scope): string {
  const { kind, namespaces, labelSelector, fieldSelector, limits } = scope;
  return JSON.stringify([
    apiVersionOf(kind),
    kind.plural,
    namespaces,
    labelSelector ?? "",
    fieldSelector ?? "",
    limits?.objectBytes ?? 0,
    limits?.totalBytes ?? 0,
  ]);
}

/** The scope beside its kind, for people; `""` when there is nothing to say. */
export function describeScope(scope: Scope): string {
  const parts = [
    ...(scope.namespaces.length === 0 ? [] : [`namespaces=${scope.namespaces.join(",")}`]),
    ...(scope.labelSelector === undefined ? [] : [`labels=${scope.labelSelector}`]),
    ...(scope.fieldSelector === undefined ? [] : [`fields=${scope.fieldSelector}`]),
    ...(scope.projection === "full" ? [] : [`projection=${projectionName(scope.projection)}`]),
  ];
  return parts.join(" ");
}

/** The form of a scope as a label of metrics, which must not grow with the names of objects; `""` for a whole kind. */
export function scopeLabel(scope: Scope): string {
  const parts = [
    ...(scope.namespaces.length === 0 ? [] : ["namespaced"]),
    ...(scope.labelSelector === undefined ? [] : ["labels"]),
    ...(scope.fieldSelector === undefined ? [] : ["fields"]),
    ...(scope.projection === "full" ? [] : [projectionName(scope.projection)]),
  ];
  return parts.join(" ");
}

/** True when the scope holds every object of a namespace, or of `namespaces` when none is given. */
export function covers(scope: Scope, namespace: string | undefined, namespaces: readonly string[]): boolean {
  const { labelSelector, fieldSelector, limits } = scope;
  if (labelSelector !== undefined || fieldSelector !== undefined || limits !== undefined) return false;
  if (scope.namespaces.length === 0) return true;
  const needed = namespace === undefined ? namespaces : [namespace];
  return needed.length > 0 && needed.every((name) => scope.namespaces.includes(name));
}
