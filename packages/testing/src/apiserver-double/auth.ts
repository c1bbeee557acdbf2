/** Who sends a request, and what they may do. */
import { randomUUID } from "node:crypto";
import type { User } from "./call.ts";
import { items, type JsonObject, record, records, text } from "./json.ts";
import { keyOf } from "./object.ts";
import type { Server } from "./server.ts";

const MASTERS = "system:masters";
const AUTHENTICATED = "system:authenticated";

export interface Attributes {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** Set instead of a resource, for paths such as `/metrics`. */
  path?: string | undefined;
}

export interface Users {
  /** A new bearer token of a user. */
  issue(user: User): string;
  issueFor(namespace: string, serviceAccount: string, uid: string): string;
  byToken(token: string): User | undefined;
}

export function createUsers(): Users {
  const tokens = new Map<string, User>();
  const issue = (user: User): string => {
    const token = randomUUID();
    tokens.set(token, user);
    return token;
  };
  return {
    issue,
    issueFor: (namespace, name, uid) => issue(serviceAccountUser(namespace, name, uid)),
    byToken: (token) => tokens.get(token),
  };
}

export function serviceAccountUser(namespace: string, name: string, uid: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, AUTHENTICATED],
  };
}

export function authenticated(name: string, groups: readonly string[]): User {
  return { name, uid: "", groups: [...new Set([...groups, AUTHENTICATED])] };
}

export const ANONYMOUS: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"] };

function covers(list: unknown, value: string): boolean {
  return items(list).some((entry) => entry === "*" || entry === value);
}

function resourceMatches(list: unknown, resource: string, subresource: string): boolean {
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return items(list).some(
    (entry) => entry === "*" || entry === full || (subresource !== "" && entry === `*/${subresource}`),
  );
}

function ruleAllows(rule: Record<string, unknown>, wanted: Attributes): boolean {
  if (!covers(rule.verbs, wanted.verb)) return false;
  if (wanted.path !== undefined) {
    return items(rule.nonResourceURLs).some((url) => {
      const pattern = text(url);
      return (
        pattern === wanted.path || (pattern.endsWith("*") && wanted.path!.startsWith(pattern.slice(0, -1)))
      );
    });
  }
  if (!covers(rule.apiGroups, wanted.group)) return false;
  if (!resourceMatches(rule.resources, wanted.resource, wanted.subresource)) return false;
  const names = items(rule.resourceNames);
  return names.length === 0 || names.includes(wanted.name);
}

function isSubject(subject: Record<string, unknown>, user: User): boolean {
  if (subject.kind === "User") return subject.name === user.name;
  if (subject.kind === "Group") return user.groups.includes(text(subject.name));
  return user.name === `system:serviceaccount:${text(subject.namespace)}:${text(subject.name)}`;
}

const RBAC = "rbac.authorization.k8s.io";

/** Paths that everybody may read. */
const PUBLIC_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY_PATHS = ["/api", "/apis", "/openapi"];

function defaultRight(user: User, wanted: Attributes): boolean {
  if (wanted.path !== undefined && wanted.verb === "get") {
    if (PUBLIC_PATHS.includes(wanted.path)) return true;
    const discovery = DISCOVERY_PATHS.some(
      (path) => wanted.path === path || wanted.path!.startsWith(`${path}/`),
    );
    return discovery && user.groups.includes(AUTHENTICATED);
  }
  const selfReview = wanted.resource.startsWith("selfsubject") && wanted.verb === "create";
  return selfReview && user.groups.includes(AUTHENTICATED);
}

/** Whether a user may do something; `reason` says which binding allows it. */
export function authorize(
  server: Server,
  user: User,
  wanted: Attributes,
): { allowed: boolean; reason: string } {
  if (!server.settings.rbac || user.groups.includes(MASTERS) || defaultRight(user, wanted)) {
    return { allowed: true, reason: "" };
  }
  for (const grant of grantsOf(server, user, wanted.namespace)) {
    if (!grant.rules.some((rule) => ruleAllows(rule, wanted))) continue;
    return { allowed: true, reason: `RBAC: allowed by ${grant.how}` };
  }
  return { allowed: false, reason: "" };
}

/** The rules that hold for a user in a namespace, as a SelfSubjectRulesReview tells them. */
export function rulesFor(server: Server, user: User, namespace: string): JsonObject[] {
  const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
  if (!server.settings.rbac || user.groups.includes(MASTERS)) return [all];
  return [...grantsOf(server, user, namespace)].flatMap(({ rules }) => rules) as JsonObject[];
}

/** The roles that are bound to a user, cluster-wide and in a namespace. */
function* grantsOf(
  { store }: Server,
  user: User,
  wanted: string,
): Generator<{ rules: Record<string, unknown>[]; how: string }> {
  const scopes: [string, string | undefined][] = [[`clusterrolebindings.${RBAC}`, undefined]];
  if (wanted !== "") scopes.push([`rolebindings.${RBAC}`, wanted]);
  for (const [collection, namespace] of scopes) {
    for (const binding of store.list(collection, namespace)) {
      const subject = records(binding.subjects).find((entry) => isSubject(entry, user));
      if (subject === undefined) continue;
      const reference = record(binding.roleRef);
      const clusterRole = reference.kind === "ClusterRole";
      const role = store.get(
        `${clusterRole ? "clusterroles" : "roles"}.${RBAC}`,
        keyOf(clusterRole ? "" : namespace, text(reference.name)),
      );
      const bound = namespace === undefined ? binding.metadata.name : `${binding.metadata.name}/${namespace}`;
      yield {
        rules: records(role?.rules),
        how: `${binding.kind} ${JSON.stringify(bound)} of ${text(reference.kind)} ${JSON.stringify(reference.name)} to ${text(subject.kind)} ${JSON.stringify(subject.name)}`,
      };
    }
  }
}
