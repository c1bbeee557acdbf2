/** Arithmetic of RBAC rules. */

/** A rule of a role. */
export interface RightsRule {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** One right: a verb on a resource. */
export interface SingleRight {
  readonly group: string;
  /** With its subresource, as in `pods/eviction`. */
  readonly resource: string;
  readonly verb: string;
  /** Absent: every object. */
  readonly resourceName?: string;
}

/** The single rights of rules, without repeats. */
export function expandRules(rules: readonly RightsRule[]): SingleRight[] {
  const found = new Map<string, SingleRight>();
  for (const rule of rules) {
    for (const group of rule.groups) {
      for (const resource of rule.resources) {
        for (const verb of rule.verbs) {
          for (const resourceName of rule.resourceNames ?? [undefined]) {
            const right = { group, resource, verb, ...(resourceName !== undefined && { resourceName }) };
            found.set(JSON.stringify(right), right);
          }
        }
      }
    }
  }
  return [...found.values()];
}

/**
 * The fewest rules, in a fixed order, that grant these rights and no other: resources of a group that allow the same
 * verbs on the same objects share one rule.
 */
export function compactRights(rights: readonly SingleRight[]): RightsRule[] {
  const verbsOf = new Map<string, { right: SingleRight; verbs: Set<string> }>();
  for (const right of rights) {
    const key = JSON.stringify([right.group, right.resource, right.resourceName ?? null]);
    const entry = verbsOf.get(key) ?? { right, verbs: new Set<string>() };
    entry.verbs.add(right.verb);
    verbsOf.set(key, entry);
  }
  const rules = new Map<
    string,
    { groups: string[]; resources: Set<string>; verbs: string[]; names: Set<string> }
  >();
  for (const { right, verbs } of verbsOf.values()) {
    const sorted = [...verbs].sort(byVerb);
    const named = right.resourceName !== undefined;
    // Names belong to one resource; without names, resources of equal verbs are put together.
    const key = JSON.stringify([right.group, sorted, named ? right.resource : null]);
    const rule = rules.get(key) ?? {
      groups: [right.group],
      resources: new Set(),
      verbs: sorted,
      names: new Set(),
    };
    rule.resources.add(right.resource);
    if (right.resourceName !== undefined) rule.names.add(right.resourceName);
    rules.set(key, rule);
  }
  return [...rules.values()]
    .map(({ groups, resources, verbs, names }) => ({
      groups,
      resources: [...resources].sort(),
      verbs,
      ...(names.size > 0 && { resourceNames: [...names].sort() }),
    }))
    .sort((a, b) => compare(sortKey(a), sortKey(b)));
}

/** {@link compactRights} of what the rules grant. */
export function mergeRules(rules: readonly RightsRule[]): RightsRule[] {
  return compactRights(expandRules(rules));
}

/** Rules in the form of a Role's `rules`. */
export function roleRules(rules: readonly RightsRule[]): object[] {
  return rules.map(({ groups, resources, verbs, resourceNames }) => ({
    apiGroups: groups,
    resources,
    ...(resourceNames && { resourceNames }),
    verbs,
  }));
}

/** Usual order of verbs: reads, then writes. */
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

const byVerb = (a: string, b: string): number => rank(a) - rank(b) || compare(a, b);
const rank = (verb: string): number => (VERBS.includes(verb) ? VERBS.indexOf(verb) : VERBS.length);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sortKey = (rule: RightsRule): string =>
  [rule.groups, rule.resources, rule.resourceNames ?? [], rule.verbs]
    .map((part) => part.join(","))
    .join("\n");
