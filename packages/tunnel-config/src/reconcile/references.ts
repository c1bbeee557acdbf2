/** What objects name by a reference: in the cluster, or in the account (TUN-931, TUN-935). */
import type { Kind, KubeObject, SourceReader } from "@quartet/core";
import { type AnyTunnel, type Cached, CLUSTER_TUNNEL, TUNNEL, VIRTUAL_NETWORK } from "../kinds.ts";
import { Problem } from "./problem.ts";
import type { Scope } from "./resource.ts";

/** Time after which something in the account that was not found is looked for again, in milliseconds. */
const RETRY_MS = 300_000;

/** One of three names. */
export interface Reference {
  readonly name?: string | undefined;
  readonly cloudflareId?: string | undefined;
  readonly cloudflareName?: string | undefined;
}

export interface TunnelReference {
  readonly kind?: "Tunnel" | "ClusterTunnel" | undefined;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Something that must be there first. Whatever is missing in the cluster, its watch brings the object back. */
export function missing(message: string, remote = false): Problem {
  return new Problem("DependencyError", message, remote ? { retryAfterMs: RETRY_MS } : {});
}

/** Looks things of one kind up in the account. */
export interface Directory {
  /** What it is called in messages, such as `virtual network`. */
  readonly noun: string;
  byId(id: string): Promise<boolean>;
  /** Identifiers of all of that name. */
  byName(name: string): Promise<readonly string[]>;
}

/** Identifier that a reference stands for. */
export async function resolveReference(
  path: string,
  reference: Reference,
  directory: Directory,
  inCluster: (name: string) => Promise<string>,
): Promise<string> {
  const { name, cloudflareId, cloudflareName } = reference;
  const given = [name, cloudflareId, cloudflareName].filter(Boolean).length;
  if (given !== 1)
    throw new Problem(
      "InvalidSpec",
      `${path}: exactly one of name, cloudflareId and cloudflareName is needed`,
    );
  if (name) return inCluster(name);
  const { noun } = directory;
  if (cloudflareId) {
    if (await directory.byId(cloudflareId)) return cloudflareId;
    throw missing(`${path}: the account has no ${noun} ${cloudflareId}`, true);
  }
  const found = await directory.byName(cloudflareName ?? "");
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw missing(`${path}: the account has ${found.length || "no"} ${noun} ${cloudflareName}`, true);
}

/** Identifier of the counterpart of an object of the cluster, which must be in the same account. */
export async function counterpartId<T extends KubeObject>(
  path: string,
  kind: Kind<T>,
  key: { readonly namespace: string; readonly name: string },
  idField: string,
  { cache, account }: Scope,
): Promise<string> {
  const object = await cache.get(kind, key);
  const text = `${kind.kind} ${key.namespace === "" ? "" : `${key.namespace}/`}${key.name}`;
  if (object === undefined) throw missing(`${path}: there is no ${text}`);
  if (object.metadata.deletionTimestamp !== undefined) throw missing(`${path}: ${text} is being deleted`);
  const status = (object as unknown as { status?: Record<string, unknown> }).status;
  const id = status?.[idField];
  if (typeof id !== "string" || id === "")
    throw missing(`${path}: ${text} has no counterpart in the account yet`);
  const other = status?.accountId;
  if (typeof other === "string" && other !== "" && other !== account)
    throw missing(`${path}: ${text} is in account ${other}, this object in ${account}`);
  return id;
}

/** Where the tunnel object of a reference is. */
export function tunnelKey({ kind = "ClusterTunnel", name, namespace }: TunnelReference): {
  kind: Kind<AnyTunnel>;
  key: { namespace: string; name: string };
} {
  return kind === "Tunnel"
    ? { kind: TUNNEL as Kind<AnyTunnel>, key: { namespace: namespace || "default", name } }
    : { kind: CLUSTER_TUNNEL as Kind<AnyTunnel>, key: { namespace: "", name } };
}

/** The tunnel object of a reference. */
export function tunnelOf(
  reference: TunnelReference,
  cache: SourceReader,
): Promise<Cached<AnyTunnel> | undefined> {
  const { kind, key } = tunnelKey(reference);
  return cache.get(kind, key);
}

/** Identifier of a virtual network, by a reference. */
export function networkId(
  path: string,
  reference: Reference,
  scope: Scope,
  list: (filter: { id?: string; name?: string }) => Promise<readonly { readonly id: string }[]>,
): Promise<string> {
  const directory: Directory = {
    noun: "virtual network",
    byId: async (id) => (await list({ id })).length > 0,
    byName: async (name) => (await list({ name })).map(({ id }) => id),
  };
  return resolveReference(path, reference, directory, (name) =>
    counterpartId(`${path}.name`, VIRTUAL_NETWORK, { namespace: "", name }, "virtualNetworkId", scope),
  );
}
