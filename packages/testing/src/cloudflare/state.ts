/** What the double holds. Objects have the fields of the API. */
import { randomUUID } from "node:crypto";

export type Fields = Record<string, unknown>;

export interface Account {
  id: string;
  name: string;
}

export interface Zone {
  id: string;
  name: string;
  account: string;
  /** `plan.legacy_id`: free, pro, business, enterprise. */
  plan: string;
  records: Map<string, Fields>;
}

export interface StoredTunnel {
  account: string;
  fields: Fields & { id: string; name: string; status: string; deleted_at: string | null };
  secret: string;
  connections: Fields[];
  version: number;
  /** What its connectors have instead of that, for a test. */
  connectorVersion?: number;
  config: Fields | null;
  source: "local" | "cloudflare";
  configuredAt: string | null;
}

export interface Bucket {
  fields: Fields & { name: string };
  cors: unknown[];
  lifecycle: unknown[];
  /** Objects in it; one that holds any cannot be deleted. */
  objects: number;
}

/** Everything of one account that is a plain list of objects by id. */
export type ListName = "networks" | "routes" | "apps" | "policies" | "groups" | "providers" | "rules";

export interface CloudflareState {
  readonly accounts: Map<string, Account>;
  readonly zones: Map<string, Zone>;
  readonly tunnels: Map<string, StoredTunnel>;
  readonly buckets: Map<string, Bucket>;
  /** Accounts in which R2 is not enabled. */
  readonly withoutR2: Set<string>;
  readonly lists: Readonly<Record<ListName, Map<string, Fields>>>;
  now(): number;
}

const ACCOUNT = { id: "test-account-id", name: "Test Account" };

/** One account, the zones example.com and test.com on the free plan, one default virtual network. */
export function seededState(now: () => number): CloudflareState {
  const list = () => new Map<string, Fields>();
  const state: CloudflareState = {
    accounts: new Map(),
    zones: new Map(),
    tunnels: new Map(),
    buckets: new Map(),
    withoutR2: new Set(),
    lists: {
      networks: list(),
      routes: list(),
      apps: list(),
      policies: list(),
      groups: list(),
      providers: list(),
      rules: list(),
    },
    now,
  };
  addAccount(state, ACCOUNT);
  addZone(state, { id: "test-zone-id", name: "example.com", account: ACCOUNT.id });
  addZone(state, { id: "test-zone-id-2", name: "test.com", account: ACCOUNT.id });
  return state;
}

/** Adds an account with its default virtual network. */
export function addAccount(state: CloudflareState, account: Account): void {
  state.accounts.set(account.id, account);
  const id = randomUUID();
  const fields = { id, name: "default", comment: "", is_default_network: true, deleted_at: null };
  state.lists.networks.set(id, { ...fields, account: account.id, created_at: timeOf(state) });
}

export function addZone(
  state: CloudflareState,
  zone: Pick<Zone, "id" | "name" | "account"> & Partial<Zone>,
): void {
  state.zones.set(zone.id, { plan: "free", records: new Map(), ...zone });
}

/** RFC 3339 with microseconds, as the API writes times. */
export function timeOf(state: CloudflareState): string {
  return new Date(state.now()).toISOString().replace("Z", "000Z");
}

/** 32 hexadecimal digits. */
export function hexId(): string {
  return randomUUID().replaceAll("-", "");
}

/** An object as it goes out: what is ours alone left away. */
export function outward({ account: _, ...fields }: Fields): Fields {
  return fields;
}
