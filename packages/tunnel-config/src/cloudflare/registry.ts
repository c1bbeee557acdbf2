/** One client for each credential, so that all its calls share one budget. */
import type { Clock } from "@quartet/core";
import { type CloudflareApi, createApi } from "./api.ts";
import { createBudget } from "./budget.ts";
import { type ApiObserver, createApiClient } from "./client.ts";
import { type ApiCredentials, credentialsId } from "./credentials.ts";
import type { Exchange } from "./exchange.ts";

/** Credentials that are remembered; the one that was not used for longest goes first. */
const MAX_CREDENTIALS = 1000;

export interface RegistryOptions {
  readonly baseUrl: string;
  /** Calls of a credential in five minutes; 0 = no limit. */
  readonly calls: number;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  readonly observer?: ApiObserver;
}

/** Typed calls by credentials. */
export function createRegistry(options: RegistryOptions): (credentials: ApiCredentials) => CloudflareApi {
  const { calls, clock, ...rest } = options;
  const apis = new Map<string, CloudflareApi>();
  return (credentials) => {
    const id = credentialsId(credentials);
    const known = apis.get(id);
    const api =
      known ??
      createApi(createApiClient({ ...rest, clock, credentials, budget: createBudget(calls, clock) }));
    apis.delete(id);
    apis.set(id, api);
    const [oldest] = apis.keys();
    if (apis.size > MAX_CREDENTIALS && oldest !== undefined) apis.delete(oldest);
    return api;
  };
}
