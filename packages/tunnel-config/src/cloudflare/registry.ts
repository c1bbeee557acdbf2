/** One client for each credential, so that all its calls share one budget. */
import type { Clock } from "@quartet/core";
import { type CloudflareApi, createApi } from "./api.ts";
import { type Budget, createBudget } from "./budget.ts";
import { type ApiObserver, createApiClient } from "./client.ts";
import { type ApiCredentials, credentialsId } from "./credentials.ts";
import type { Exchange } from "./exchange.ts";

/** Credentials that are remembered; the one that was not used for longest goes first. */
const MAX_CREDENTIALS = 1000;
/** Digits of a credential's hash that are shown. */
const SHOWN = 8;

export interface RegistryOptions {
  readonly baseUrl: string;
  /** Calls of a credential in five minutes; 0 = no limit. */
  readonly calls: number;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  readonly observer?: ApiObserver;
}

export interface Registry {
  (credentials: ApiCredentials): CloudflareApi;
  /** Calls left to each credential in its window, by a text that tells credentials apart and nothing else. */
  remaining(): ReadonlyMap<string, number>;
}

/** Typed calls by credentials. */
export function createRegistry(options: RegistryOptions): Registry {
  const { calls, clock, ...rest } = options;
  const apis = new Map<string, { readonly api: CloudflareApi; readonly budget: Budget }>();
  const apiFor = (credentials: ApiCredentials): CloudflareApi => {
    const id = credentialsId(credentials);
    const entry = apis.get(id) ?? create(credentials);
    apis.delete(id);
    apis.set(id, entry);
    const [oldest] = apis.keys();
    if (apis.size > MAX_CREDENTIALS && oldest !== undefined) apis.delete(oldest);
    return entry.api;
  };
  const create = (credentials: ApiCredentials) => {
    const budget = createBudget(calls, clock);
    return { api: createApi(createApiClient({ ...rest, clock, credentials, budget })), budget };
  };
  const remaining = (): ReadonlyMap<string, number> =>
    new Map([...apis].map(([id, { budget }]) => [id.slice(0, SHOWN), budget.remaining()]));
  return Object.assign(apiFor, { remaining });
}
