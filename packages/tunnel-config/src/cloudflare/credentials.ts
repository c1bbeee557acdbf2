/** What a call is signed with. */
import { createHash } from "node:crypto";

export type ApiCredentials =
  | { readonly type: "token"; readonly token: string }
  | { readonly type: "key"; readonly key: string; readonly email: string };

/** Headers of a call (TUN-105). */
export function authHeaders(credentials: ApiCredentials): Record<string, string> {
  return credentials.type === "token"
    ? { authorization: `Bearer ${credentials.token}` }
    : { "x-auth-email": credentials.email, "x-auth-key": credentials.key };
}

/** Values that must never be seen. */
export function secretsOf(credentials: ApiCredentials): readonly string[] {
  return [credentials.type === "token" ? credentials.token : credentials.key].filter((value) => value !== "");
}

/** Name for equal credentials, from which they cannot be read. */
export function credentialsId(credentials: ApiCredentials): string {
  const parts = credentials.type === "token" ? [credentials.token] : [credentials.email, credentials.key];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
