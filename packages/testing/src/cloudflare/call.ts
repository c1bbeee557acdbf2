/** One call of the API, and what handlers share. */

import type { CloudflareAnswer } from "./envelope.ts";
import { CloudflareRefusal } from "./envelope.ts";
import type { CloudflarePermission } from "./permissions.ts";
import type { CloudflareState, Fields, Zone } from "./state.ts";

export interface CloudflareCall {
  readonly state: CloudflareState;
  readonly method: string;
  readonly path: string;
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Route {
  readonly method: string;
  /** Below `/client/v4`; `:name` stands for one segment. */
  readonly path: string;
  readonly permission: CloudflarePermission | undefined;
  readonly handle: (call: CloudflareCall) => CloudflareAnswer;
}

/** The body as an object; refuses others. */
export function fieldsOf({ body }: CloudflareCall): Fields {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Fields;
  throw new CloudflareRefusal(400, 6007, "Malformed JSON in request body");
}

/** A text of the body; refuses others, and empty ones when it is required. */
export function textField(fields: Fields, name: string, required = false): string | undefined {
  const value = fields[name];
  if (typeof value === "string" && (value !== "" || !required)) return value;
  if ((value === undefined || value === null) && !required) return undefined;
  throw new CloudflareRefusal(400, 1003, `Invalid or missing field ${name}`);
}

/** The account of the path; refuses unknown ones. */
export function accountOf({ state, params, path }: CloudflareCall): string {
  const { account = "" } = params;
  if (!state.accounts.has(account)) throw noRoute(path);
  return account;
}

/** The zone of the path; refuses unknown ones. */
export function zoneOf({ state, params, path }: CloudflareCall): Zone {
  const zone = state.zones.get(params.zone ?? "");
  if (zone === undefined) throw noRoute(path);
  return zone;
}

export function noRoute(path: string): CloudflareRefusal {
  const chain = [{ code: 7000, message: "No route for that URI" }];
  return new CloudflareRefusal(
    404,
    7003,
    `Could not route to ${path}, perhaps your object identifier is invalid?`,
    chain,
  );
}

/** Whether the flag of the query is set to true, to false, or not at all. */
export function flagOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value === "true";
}
