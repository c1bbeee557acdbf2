/** Roles for exactly the rights that a manager needs. */
import { stringify } from "yaml";
import { neededRules, type RightsModule, type RightsOptions } from "./needed.ts";
import { mergeRules, type RightsRule, roleRules } from "./rules.ts";

export interface RbacOptions extends RightsOptions {
  /** The manager's own namespace. */
  releaseNamespace: string;
}

/** A Role, or a ClusterRole when it has no namespace. */
export interface RoleObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role" | "ClusterRole";
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly object[];
}

/**
 * Roles of a manager. For all namespaces: ClusterRole `<release>-manager`. For some: a Role of that name in each, and
 * ClusterRole `<release>-cluster-read` if anything cluster-scoped is needed. Rights on own objects are in Role
 * `<release>-core` of the own namespace, those in single other namespaces in Roles `<release>-extra`.
 */
export function rolesFor(modules: readonly RightsModule[], options: RbacOptions): RoleObject[] {
  const { release, releaseNamespace, namespaces } = options;
  const rights = neededRules(modules, options);
  const roles =
    namespaces.length === 0
      ? [role(`${release}-manager`, undefined, mergeRules([...rights.work, ...rights.cluster]))]
      : [
          role(`${release}-cluster-read`, undefined, rights.cluster),
          ...namespaces.map((namespace) => role(`${release}-manager`, namespace, rights.work)),
        ];
  roles.push(role(`${release}-core`, releaseNamespace, rights.own));
  for (const { namespace, rules } of rights.elsewhere) roles.push(role(`${release}-extra`, namespace, rules));
  return roles.filter(({ rules }) => rules.length > 0);
}

/** {@link rolesFor} as YAML documents. */
export function rbacFor(modules: readonly RightsModule[], options: RbacOptions): string {
  return rolesFor(modules, options)
    .map((object) => stringify(object))
    .join("---\n");
}

function role(name: string, namespace: string | undefined, rules: readonly RightsRule[]): RoleObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: namespace === undefined ? "ClusterRole" : "Role",
    metadata: namespace === undefined ? { name } : { name, namespace },
    rules: roleRules(rules),
  };
}
