/** AccessGroups (TUN-939, TUN-940). */
import type { AccessGroup } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import { type ApiParts, apiParts, providersOf, rulesProblem, sameParts } from "../desired/access-rules.ts";
import { ACCESS_GROUP, type Cached } from "../kinds.ts";
import { resolveProviders } from "./identity-providers.ts";
import type { ResourceKind, Scope, Wanted } from "./resource.ts";

/** A group of an account. */
interface RemoteGroup extends ApiParts {
  readonly id: string;
  readonly name: string;
  readonly is_default?: boolean;
}

interface WantedGroup extends Wanted {
  readonly fields: ApiParts & Pick<RemoteGroup, "name" | "is_default">;
}

const groups = ({ api, account }: Scope): Collection<RemoteGroup> => api.collection(account, "access/groups");

const nameOf = ({ spec, metadata }: Cached<AccessGroup>): string => spec.name || (metadata.name ?? "");

/** Groups of that name, from all pages. The filter is applied here too: not every server knows it. */
export async function groupsNamed(scope: Scope, name: string): Promise<RemoteGroup[]> {
  return (await groups(scope).list({ name })).filter((group) => group.name === name);
}

/** The group of an identifier. */
export function groupOf(scope: Scope, id: string): Promise<RemoteGroup | undefined> {
  return groups(scope).get(id);
}

export const ACCESS_GROUPS: ResourceKind<AccessGroup, WantedGroup, RemoteGroup> = {
  kind: ACCESS_GROUP,
  finalizer: "accessgroup.networking.cloudflare-operator.io/finalizer",
  noun: "group",
  states: { ready: "Ready", error: "Error" },
  idField: "groupId",
  cloudflare: ({ spec }) => spec.cloudflare,
  problem: ({ spec }) => rulesProblem("spec", spec),
  claimKey: nameOf,
  async wanted(object, scope) {
    const { spec } = object;
    const providerOf = await resolveProviders(providersOf("spec", spec), scope);
    const name = nameOf(object);
    const { isDefault } = spec;
    return {
      key: name,
      fields: {
        name,
        ...apiParts(spec, providerOf),
        ...(isDefault !== undefined && { is_default: isDefault }),
      },
    };
  },
  get: groupOf,
  find: groupsNamed,
  keyOf: ({ name }) => name,
  create: (scope, { fields }) => groups(scope).create(fields),
  async update(scope, remote, { fields }, _, { strict }) {
    const { name, is_default = false } = remote;
    const same =
      name === fields.name &&
      (fields.is_default === undefined || fields.is_default === is_default) &&
      sameParts(remote, fields, strict);
    return same ? remote : groups(scope).put(remote.id, fields);
  },
  remove: (scope, { id }) => groups(scope).remove(id),
  status: () => ({}),
};
