/** Policies of an application (TUN-937, TUN-938). */
import type { AccessApplication } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";
import { type ApiParts, apiParts, type ProviderOf, rulesProblem, sameParts } from "./access-rules.ts";

type Spec = Cached<AccessApplication>["spec"];

/** A policy as the application holds it. */
export interface RemotePolicy extends ApiParts {
  readonly id: string;
  readonly name?: string;
  readonly decision?: string;
  readonly precedence?: number;
  readonly session_duration?: string;
  /** It is of the account, not of this application alone. */
  readonly reusable?: boolean;
}

export type PolicyFields = Omit<RemotePolicy, "id" | "reusable"> & { readonly name: string };

/** What an application wants of policies; nothing when it leaves them to others. */
export interface WantedPolicies {
  readonly own: readonly PolicyFields[];
  readonly reusable: readonly { readonly id: string; readonly precedence: number }[];
}

/** What references stand for. */
export interface ResolvedPolicies {
  /** Groups of inline policies by index. */
  readonly groups: ReadonlyMap<number, string>;
  /** Groups of `reusableGroupRefs`. */
  readonly reusableGroups: readonly string[];
  /** Policies of `reusablePolicyRefs`, in their order. */
  readonly reusable: readonly string[];
  readonly providerOf: ProviderOf;
}

/** Whether the spec says anything about policies. */
export function decidesPolicies({ policies, reusablePolicyRefs, reusableGroupRefs }: Spec): boolean {
  return [policies, reusablePolicyRefs, reusableGroupRefs].some((list) => (list ?? []).length > 0);
}

/** The wanted policies, in the order in which they are asked. */
export function wantedPolicies(
  name: string,
  spec: Spec,
  { groups, reusableGroups, reusable, providerOf }: ResolvedPolicies,
): WantedPolicies {
  const own = (spec.policies ?? []).map((policy, index): PolicyFields => {
    const { decision = "allow", precedence = index + 1, policyName, sessionDuration } = policy;
    const parts = apiParts(policy, providerOf);
    const group = groups.get(index);
    const include = [...(group === undefined ? [] : [{ group: { id: group } }]), ...(parts.include ?? [])];
    return {
      name: policyName || `${name} ${precedence}`,
      decision,
      precedence,
      ...parts,
      include,
      ...(sessionDuration !== undefined && { session_duration: sessionDuration }),
    };
  });
  const refs = (spec.reusablePolicyRefs ?? []).map(({ precedence }, index) => ({
    id: reusable[index] ?? "",
    precedence: precedence ?? own.length + index + 1,
  }));
  if (reusableGroups.length > 0) {
    const include = reusableGroups.map((id) => ({ group: { id } }));
    const precedence = Math.max(0, ...[...own, ...refs].map((one) => one.precedence ?? 0)) + 1;
    own.push({ name: `${name} groups`, decision: "allow", precedence, include });
  }
  return { own, reusable: refs };
}

/** What is wrong with the policies, with its remedy, or nothing. */
export function policiesProblem(spec: Spec): string | undefined {
  const names = new Set<string>();
  const places = new Set<number>();
  for (const [index, policy] of (spec.policies ?? []).entries()) {
    const place = `spec.policies[${index}]`;
    const { name, groupId, cloudflareGroupName, include = [], policyName, precedence = index + 1 } = policy;
    const groups = [name, groupId, cloudflareGroupName].filter(Boolean).length;
    if (groups > 1) return `${place}: at most one of name, groupId and cloudflareGroupName is needed`;
    if (groups === 0 && include.length === 0)
      return `${place}: says nobody whom it is for; set name, groupId, cloudflareGroupName or include`;
    const wrong = rulesProblem(place, policy);
    if (wrong !== undefined) return wrong;
    if (policyName !== undefined && names.has(policyName))
      return `${place}.policyName: ${policyName} is the name of another policy; choose another`;
    if (policyName !== undefined) names.add(policyName);
    if (places.has(precedence))
      return `${place}.precedence: ${precedence} is that of another policy; choose another`;
    places.add(precedence);
  }
  return undefined;
}

/** What is to be done to the policies of an application alone. */
export interface PolicyPlan {
  readonly create: readonly PolicyFields[];
  readonly change: readonly { readonly id: string; readonly fields: PolicyFields }[];
  /** What lets somebody in goes before others come, what keeps somebody out after. */
  readonly removeFirst: readonly string[];
  readonly removeLast: readonly string[];
}

/** Own policies are known by their name. */
export function policyPlan(
  remote: readonly RemotePolicy[],
  wanted: readonly PolicyFields[],
  strict: boolean,
): PolicyPlan {
  const left = remote.filter(({ reusable }) => reusable !== true);
  const create: PolicyFields[] = [];
  const change: { id: string; fields: PolicyFields }[] = [];
  for (const fields of wanted) {
    const at = left.findIndex(({ name }) => name === fields.name);
    if (at < 0) {
      create.push(fields);
      continue;
    }
    const [there] = left.splice(at, 1) as [RemotePolicy];
    if (!samePolicy(there, fields, strict)) change.push({ id: there.id, fields });
  }
  const denies = ({ decision }: { decision?: string }): boolean => decision === "deny";
  return {
    create: [...create.filter(denies), ...create.filter((policy) => !denies(policy))],
    change,
    removeFirst: left.filter((policy) => !denies(policy)).map(({ id }) => id),
    removeLast: left.filter(denies).map(({ id }) => id),
  };
}

function samePolicy(remote: RemotePolicy, wanted: PolicyFields, strict: boolean): boolean {
  const duration = wanted.session_duration ?? (strict ? "" : remote.session_duration);
  return (
    remote.decision === wanted.decision &&
    (remote.precedence === undefined || remote.precedence === wanted.precedence) &&
    (remote.session_duration ?? "") === (duration ?? "") &&
    sameParts(remote, wanted, strict)
  );
}

/** The list that goes with the application: what it is to hold, by identifiers. */
export function policyList(
  remote: readonly RemotePolicy[],
  wanted: WantedPolicies | undefined,
): { id: string; precedence?: number }[] {
  const kept = remote
    .filter(({ reusable }) => wanted === undefined || reusable !== true)
    .map(({ id, precedence }) => ({ id, ...(precedence !== undefined && { precedence }) }));
  return [...kept, ...(wanted?.reusable ?? [])];
}

/** Whether the application holds the reusable policies that are wanted, and no others. */
export function sameReusable(remote: readonly RemotePolicy[], wanted: WantedPolicies["reusable"]): boolean {
  const text = (list: readonly { id: string; precedence?: number }[]): string =>
    JSON.stringify(list.map(({ id, precedence }) => [id, precedence ?? 0]).sort());
  return text(remote.filter(({ reusable }) => reusable === true)) === text(wanted);
}
