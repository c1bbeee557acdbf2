/** Identity providers that rules and applications name. */
import type { ProviderOf, ProviderReference } from "../desired/access-rules.ts";
import { type Directory, missing, resolveReference } from "./references.ts";
import type { Scope } from "./resource.ts";

interface Provider {
  readonly id: string;
  readonly name: string;
}

/** Looks all references up, with one list of the account's providers at most. */
export async function resolveProviders(
  references: readonly (readonly [path: string, reference: ProviderReference])[],
  { api, account }: Scope,
): Promise<ProviderOf> {
  let listed: Promise<Provider[]> | undefined;
  const list = (): Promise<Provider[]> => {
    listed ??= api.collection<Provider>(account, "access/identity_providers").list();
    return listed;
  };
  const directory: Directory = {
    noun: "identity provider",
    byId: async (id) => (await list()).some((one) => one.id === id),
    byName: async (name) => (await list()).filter((one) => one.name === name).map(({ id }) => id),
  };
  const found = new Map<string, string>();
  for (const [path, reference] of references) {
    const id = await resolveReference(path, reference, directory, async () => {
      throw missing(
        `${path}.name: there is no kind for identity providers; use cloudflareId or cloudflareName`,
      );
    });
    found.set(JSON.stringify(reference), id);
  }
  return (reference) => (reference === undefined ? undefined : found.get(JSON.stringify(reference)));
}
