/** The calls that the controllers make, typed. Answers are checked no further than they are used. */
import type { ApiClient } from "./client.ts";
import { type Collection, createCollection, createSetting, type Setting } from "./collection.ts";
import { listAll } from "./lists.ts";
import { orAbsent } from "./or-absent.ts";

/** Page sizes (TUN-1103). */
const PER_PAGE = { accounts: 50, tunnels: 100, records: 1000, collections: 100 } as const;

export interface Tunnel {
  readonly id: string;
  readonly name: string;
  readonly status?: string;
  readonly deleted_at?: string | null;
  readonly config_src?: string;
}

export interface TunnelConfiguration {
  readonly version: number;
  readonly source?: string;
  /** Nothing for a tunnel that never had one. */
  readonly config: Readonly<Record<string, unknown>> | null;
}

/** A cloudflared that serves a tunnel. */
export interface Connector {
  readonly id: string;
  readonly conns?: readonly unknown[] | null;
  /** Version of the configuration that it has. */
  readonly config_version?: number;
}

export interface DnsRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly ttl?: number;
  readonly proxied?: boolean;
  readonly priority?: number;
  readonly comment?: string | null;
  readonly tags?: readonly string[];
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface ZoneInfo {
  readonly id: string;
  readonly name: string;
  readonly account?: { readonly id?: string };
  readonly plan?: { readonly legacy_id?: string };
  readonly name_servers?: readonly string[];
  readonly status?: string;
}

export interface AccountInfo {
  readonly id: string;
  readonly name: string;
}

/** Typed calls of one credential. */
export interface CloudflareApi {
  account(id: string): Promise<AccountInfo>;
  accountsNamed(name: string): Promise<AccountInfo[]>;
  zonesNamed(name: string): Promise<ZoneInfo[]>;
  zone(id: string): Promise<ZoneInfo>;
  /** Tunnels of that exact name that are not deleted. */
  tunnelsNamed(account: string, name: string): Promise<Tunnel[]>;
  /** Nothing when there is none, or it is deleted. */
  tunnel(account: string, id: string): Promise<Tunnel | undefined>;
  createTunnel(account: string, name: string, secret: string): Promise<Tunnel>;
  renameTunnel(account: string, id: string, name: string): Promise<Tunnel>;
  deleteTunnel(account: string, id: string): Promise<void>;
  dropConnections(account: string, id: string): Promise<void>;
  /** Those that serve a tunnel; it can wait. */
  connectors(account: string, id: string): Promise<readonly Connector[]>;
  tunnelToken(account: string, id: string): Promise<string>;
  /** @param priority `check` for one that can wait */
  configuration(account: string, id: string, priority?: "read" | "check"): Promise<TunnelConfiguration>;
  putConfiguration(account: string, id: string, config: unknown): Promise<TunnelConfiguration>;
  records(zone: string, filter?: Readonly<Record<string, string>>): Promise<DnsRecord[]>;
  record(zone: string, id: string): Promise<DnsRecord | undefined>;
  createRecord(zone: string, record: Omit<DnsRecord, "id">): Promise<DnsRecord>;
  patchRecord(zone: string, id: string, change: Partial<DnsRecord>): Promise<DnsRecord>;
  deleteRecord(zone: string, id: string): Promise<void>;
  /**
   * Objects of a kind in an account.
   * @param path below the account, such as `teamnet/routes`; its parts encoded
   */
  collection<R>(account: string, path: string): Collection<R>;
  /** A part of an object that is read and written as a whole; the path as with `collection`. */
  setting<R>(account: string, path: string): Setting<R>;
}

/** The typed calls over a client. */
export function createApi(client: ApiClient): CloudflareApi {
  const encode = encodeURIComponent;
  const tunnels = (account: string): string => `/accounts/${encode(account)}/cfd_tunnel`;
  const tunnel = (account: string, id: string): string => `${tunnels(account)}/${encode(id)}`;
  const records = (zone: string): string => `/zones/${encode(zone)}/dns_records`;
  const read = async <T>(path: string): Promise<T> =>
    (await client.call({ method: "GET", path })).result as T;
  const write = async <T>(method: "POST" | "PUT" | "PATCH", path: string, body: unknown): Promise<T> =>
    (await client.call({ method, path, body })).result as T;
  const remove = async (path: string): Promise<void> => {
    await orAbsent(client.call({ method: "DELETE", path }));
  };
  return {
    account: (id) => read(`/accounts/${encode(id)}`),
    accountsNamed: (name) => listAll(client, { path: "/accounts", query: { name } }, PER_PAGE.accounts),
    zonesNamed: (name) => listAll(client, { path: "/zones", query: { name } }, PER_PAGE.accounts),
    zone: (id) => read(`/zones/${encode(id)}`),
    async tunnelsNamed(account, name) {
      const query = { name, is_deleted: false };
      const found = await listAll<Tunnel>(client, { path: tunnels(account), query }, PER_PAGE.tunnels);
      return found.filter((one) => one.name === name && !one.deleted_at);
    },
    async tunnel(account, id) {
      const found = await orAbsent(read<Tunnel>(tunnel(account, id)));
      return found === undefined || found.deleted_at ? undefined : found;
    },
    createTunnel: (account, name, secret) =>
      write("POST", tunnels(account), { name, tunnel_secret: secret, config_src: "cloudflare" }),
    renameTunnel: (account, id, name) => write("PATCH", tunnel(account, id), { name }),
    deleteTunnel: (account, id) => remove(tunnel(account, id)),
    dropConnections: (account, id) => remove(`${tunnel(account, id)}/connections`),
    async connectors(account, id) {
      const path = `${tunnel(account, id)}/connections`;
      const { result } = await client.call({ method: "GET", path, priority: "check" });
      return Array.isArray(result) ? (result as Connector[]) : [];
    },
    tunnelToken: (account, id) => read(`${tunnel(account, id)}/token`),
    async configuration(account, id, priority = "read") {
      const path = `${tunnel(account, id)}/configurations`;
      const answer = await orAbsent(client.call({ method: "GET", path, priority }));
      return (answer?.result as TunnelConfiguration | undefined) ?? { version: 0, config: null };
    },
    async putConfiguration(account, id, config) {
      const path = `${tunnel(account, id)}/configurations`;
      const { result } = await client.call({ method: "PUT", path, body: { config }, priority: "config" });
      return result as TunnelConfiguration;
    },
    records: (zone, filter = {}) => listAll(client, { path: records(zone), query: filter }, PER_PAGE.records),
    record: (zone, id) => orAbsent(read<DnsRecord>(`${records(zone)}/${encode(id)}`)),
    createRecord: (zone, record) => write("POST", records(zone), record),
    patchRecord: (zone, id, change) => write("PATCH", `${records(zone)}/${encode(id)}`, change),
    deleteRecord: (zone, id) => remove(`${records(zone)}/${encode(id)}`),
    collection: (account, path) =>
      createCollection(client, `/accounts/${encode(account)}/${path}`, PER_PAGE.collections),
    setting: (account, path) => createSetting(client, `/accounts/${encode(account)}/${path}`),
  };
}
