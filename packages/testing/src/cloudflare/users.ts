/** Who calls. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { CloudflareRefusal } from "./envelope.ts";
import { ALL_PERMISSIONS, type CloudflarePermission } from "./permissions.ts";

export interface CloudflareUser {
  /** Calls of one user share the rate limit. */
  readonly name: string;
  readonly permissions: readonly CloudflarePermission[];
}

export interface Users {
  /** By API token. */
  readonly tokens: Map<string, CloudflareUser>;
  /** By e-mail address: the global API key. */
  readonly keys: Map<string, string>;
}

/** The caller; refuses what is missing, malformed or unknown. */
export function callerOf(headers: IncomingHttpHeaders, { tokens, keys }: Users): CloudflareUser {
  const { authorization } = headers;
  const [email, key] = [headers["x-auth-email"], headers["x-auth-key"]];
  if (authorization !== undefined) {
    const token = /^Bearer ([A-Za-z0-9_-]+)$/.exec(authorization)?.[1];
    if (token === undefined) throw malformed(6111, "Invalid format for Authorization header");
    const user = tokens.get(token);
    if (user === undefined) throw new CloudflareRefusal(401, 10000, "Authentication error");
    return user;
  }
  if (typeof email !== "string" || email === "")
    throw malformed(6102, "Invalid format for X-Auth-Email header");
  if (typeof key !== "string" || key === "") throw malformed(6103, "Invalid format for X-Auth-Key header");
  if (keys.get(email) !== key) throw new CloudflareRefusal(401, 10000, "Authentication error");
  return { name: email, permissions: ALL_PERMISSIONS };
}

/** Tells two credentials apart without giving them away. */
export function fingerprint(headers: IncomingHttpHeaders): string {
  const { authorization, "x-auth-key": key } = headers;
  const text = authorization ?? (typeof key === "string" ? key : "");
  return text === "" ? "none" : createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function malformed(code: number, message: string): CloudflareRefusal {
  return new CloudflareRefusal(400, 6003, "Invalid request headers", [{ code, message }]);
}
