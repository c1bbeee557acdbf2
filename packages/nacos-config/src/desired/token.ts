/** Checks of Nacos' JWT signing key. */

/** The signing key that old Nacos versions and the peer ship: known to everybody. */
const PUBLIC_TOKEN = /^SecretKey\d*$/;
/** Least length of the key in bytes (HMAC-SHA-256; Nacos refuses shorter ones). */
const MIN_TOKEN_BYTES = 32;

/** Property with the signing key of Nacos' own authentication plugin. */
export const TOKEN_PROPERTY = "nacos.core.auth.plugin.nacos.token.secret.key";
/** Property that switches authentication on. */
export const AUTH_PROPERTY = "nacos.core.auth.enabled";

/** True for the publicly known key. */
export function isPublicToken(token: string): boolean {
  return token.length >= "SecretKey0123456789".length && PUBLIC_TOKEN.test(token);
}

/** True for a key that Nacos refuses: no base64, or too short. */
export function isWeakToken(token: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(token)) return true;
  return Buffer.from(token, "base64").length < MIN_TOKEN_BYTES;
}
