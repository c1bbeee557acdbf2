/** AccessApplications with their policies (TUN-934 to TUN-938). */
import type { SourceReader } from "@quartet/core";
import type { AccessApplication } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import type { ApiError } from "../cloudflare/errors.ts";
import {
  applicationFields,
  applicationName,
  applicationProblem,
  type Fields,
  sameApplication,
} from "../desired/access-application.ts";
import { providersOf } from "../desired/access-rules.ts";
import {
  decidesPolicies,
  policiesProblem,
  policyList,
  policyPlan,
  type RemotePolicy,
  sameReusable,
  type WantedPolicies,
  wantedPolicies,
} from "../desired/app-policies.ts";
import { ACCESS_APPLICATION, ACCESS_GROUP, type Cached, VIRTUAL_NETWORK } from "../kinds.ts";
import { groupOf, groupsNamed } from "./access-group.ts";
import { resolveProviders } from "./identity-providers.ts";
import { Problem } from "./problem.ts";
import {
  counterpartId,
  type Directory,
  missing,
  networkId,
  type Reference,
  resolveReference,
} from "./references.ts";
import type { ResourceKind, Scope, Wanted } from "./resource.ts";
import { listNetworks } from "./virtual-network.ts";

/** The domain is not among the destinations, which a tunnel may still have to be given. */
const DOMAIN_UNKNOWN = 12130;
const DOMAIN_UNKNOWN_MS = 30_000;

/** An application of an account. */
interface RemoteApplication {
  readonly id: string;
  readonly name: string;
  readonly aud?: string;
  readonly domain?: string;
  readonly policies?: readonly RemotePolicy[];
  readonly saas_app?: { readonly client_id?: string };
}

interface WantedApplication extends Wanted {
  readonly fields: Fields;
  readonly domains: readonly string[];
  /** Nothing when the spec leaves the policies to others. */
  readonly policies: WantedPolicies | undefined;
}

const apps = ({ api, account }: Scope): Collection<RemoteApplication> =>
  api.collection(account, "access/apps");
const ownPolicies = ({ api, account }: Scope, app: string): Collection<RemotePolicy> =>
  api.collection(account, `access/apps/${encodeURIComponent(app)}/policies`);

export const ACCESS_APPLICATIONS: ResourceKind<AccessApplication, WantedApplication, RemoteApplication> = {
  kind: ACCESS_APPLICATION,
  finalizer: "cloudflare.com/accessapplication-finalizer",
  noun: "application",
  states: { ready: "active", error: "error" },
  idField: "applicationId",
  cloudflare: ({ spec }) => spec.cloudflare,
  problem: (object) => applicationProblem(object) ?? policiesProblem(object.spec),
  claimKey: applicationName,
  inputs,
  async wanted(object, scope) {
    const key = applicationName(object);
    const { spec } = object;
    const refs = (spec.identityProviderRefs ?? []).map(
      (reference, index) => [`spec.identityProviderRefs[${index}]`, reference] as const,
    );
    const inRules = (spec.policies ?? []).flatMap((policy, index) =>
      providersOf(`spec.policies[${index}]`, policy),
    );
    const providerOf = await resolveProviders([...refs, ...inRules], scope);
    const providers = refs.flatMap(([, reference]) => providerOf(reference) ?? []);
    const networks = await networksOf(object, scope);
    const fields = applicationFields(object, { providers, networks });
    const domains = [...new Set([spec.domain, ...(spec.selfHostedDomains ?? [])])];
    if (!decidesPolicies(spec)) return { key, fields, domains, policies: undefined };
    const resolved = { ...(await policyReferences(object, scope)), providerOf };
    return { key, fields, domains, policies: wantedPolicies(key, spec, resolved) };
  },
  get: (scope, id) => apps(scope).get(id),
  find: async (scope, name) => (await apps(scope).list({ name })).filter((app) => app.name === name),
  keyOf: ({ name }) => name,
  create: (scope, { fields, policies }) =>
    apps(scope).create({ ...fields, ...(policies !== undefined && { policies: policies.reusable }) }),
  async update(scope, remote, { fields, policies }, _, { strict }) {
    const there = remote.policies ?? [];
    const same =
      sameApplication(remote as unknown as Fields, fields, strict) &&
      (policies === undefined || sameReusable(there, policies.reusable));
    // A PUT replaces the whole: what the spec leaves to others goes with it.
    const changed = same
      ? remote
      : await apps(scope).put(remote.id, { ...fields, policies: policyList(there, policies) });
    if (policies === undefined) return changed;
    const plan = policyPlan(changed.policies ?? there, policies.own, strict);
    const { create, change, removeFirst, removeLast } = plan;
    if ([create, change, removeFirst, removeLast].every((list) => list.length === 0)) return changed;
    const own = ownPolicies(scope, remote.id);
    for (const id of removeFirst) await own.remove(id);
    for (const { id, fields: policy } of change) await own.put(id, policy);
    for (const policy of create) await own.create(policy);
    for (const id of removeLast) await own.remove(id);
    return (await apps(scope).get(remote.id)) ?? { ...changed };
  },
  remove: (scope, { id }) => apps(scope).remove(id),
  status: ({ aud = "", policies = [], saas_app }, { fields, domains, policies: wanted }) => {
    const ordered = [...policies].sort((a, b) => (a.precedence ?? 0) - (b.precedence ?? 0));
    const place = ({ precedence }: RemotePolicy): object => (precedence === undefined ? {} : { precedence });
    return {
      aud,
      domain: fields.domain,
      selfHostedDomains: domains,
      ...(saas_app?.client_id !== undefined && { saasAppClientId: saas_app.client_id }),
      resolvedPolicyIds: ordered.map(({ id }) => id),
      resolvedPolicies: (wanted === undefined ? [] : ordered.filter(({ reusable }) => reusable !== true)).map(
        (policy) => ({
          id: policy.id,
          name: policy.name ?? "",
          decision: policy.decision ?? "",
          ...place(policy),
        }),
      ),
      resolvedReusablePolicies: ordered
        .filter(({ reusable }) => reusable === true)
        .map((policy) => ({ id: policy.id, ...place(policy) })),
    };
  },
  explain: domainUnknown,
};

function domainUnknown(error: ApiError): Problem | undefined {
  if (!error.is(DOMAIN_UNKNOWN)) return undefined;
  return new Problem("InvalidConfig", error.message, { retryAfterMs: DOMAIN_UNKNOWN_MS });
}

/** Identifiers of what the spec names in the cluster. */
async function inputs({ spec }: Cached<AccessApplication>, cache: SourceReader): Promise<unknown> {
  const groups = [...(spec.policies ?? []), ...(spec.reusableGroupRefs ?? [])].flatMap(
    ({ name }) => name ?? [],
  );
  const networks = (spec.destinations ?? []).flatMap(({ vnetRef }) => vnetRef?.name ?? []);
  const key = (name: string) => ({ namespace: "", name });
  return Promise.all([
    ...groups.map(async (name) => (await cache.get(ACCESS_GROUP, key(name)))?.status?.groupId ?? ""),
    ...networks.map(
      async (name) => (await cache.get(VIRTUAL_NETWORK, key(name)))?.status?.virtualNetworkId ?? "",
    ),
  ]);
}

async function networksOf(
  { spec }: Cached<AccessApplication>,
  scope: Scope,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const [index, { vnetRef }] of (spec.destinations ?? []).entries()) {
    if (vnetRef === undefined) continue;
    const path = `spec.destinations[${index}].vnetRef`;
    found.set(index, await networkId(path, vnetRef, scope, (filter) => listNetworks(scope, filter)));
  }
  return found;
}

async function policyReferences({ spec }: Cached<AccessApplication>, scope: Scope) {
  const groups = new Map<number, string>();
  for (const [index, { name, groupId, cloudflareGroupName }] of (spec.policies ?? []).entries()) {
    const reference = { name, cloudflareId: groupId, cloudflareName: cloudflareGroupName };
    if (!Object.values(reference).some(Boolean)) continue;
    groups.set(index, await groupReference(`spec.policies[${index}]`, reference, scope));
  }
  const reusableGroups: string[] = [];
  for (const [index, reference] of (spec.reusableGroupRefs ?? []).entries())
    reusableGroups.push(await groupReference(`spec.reusableGroupRefs[${index}]`, reference, scope));
  const reusable: string[] = [];
  for (const [index, reference] of (spec.reusablePolicyRefs ?? []).entries())
    reusable.push(await reusablePolicy(`spec.reusablePolicyRefs[${index}]`, reference, scope));
  return { groups, reusableGroups, reusable };
}

function groupReference(path: string, reference: Reference, scope: Scope): Promise<string> {
  const directory: Directory = {
    noun: "group",
    byId: async (id) => (await groupOf(scope, id)) !== undefined,
    byName: async (name) => (await groupsNamed(scope, name)).map(({ id }) => id),
  };
  return resolveReference(path, reference, directory, (name) =>
    counterpartId(`${path}.name`, ACCESS_GROUP, { namespace: "", name }, "groupId", scope),
  );
}

function reusablePolicy(path: string, reference: Reference, scope: Scope): Promise<string> {
  const policies = scope.api.collection<RemotePolicy>(scope.account, "access/policies");
  const directory: Directory = {
    noun: "policy",
    byId: async (id) => (await policies.get(id)) !== undefined,
    byName: async (name) =>
      (await policies.list()).filter((policy) => policy.name === name).map(({ id }) => id),
  };
  return resolveReference(path, reference, directory, async () => {
    throw missing(`${path}.name: there is no kind for policies; use cloudflareId or cloudflareName`);
  });
}
