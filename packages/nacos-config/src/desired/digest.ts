/** Fingerprints: stable over platforms, processes and runs. */
import { createHash } from "node:crypto";

/** Length of the configuration digest (as in the peer). */
const CONFIG_DIGEST_LENGTH = 16;
/** Length of the spec's fingerprint (as in the peer). */
const VERSION_DIGEST_LENGTH = 10;

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** First 16 hexadecimal characters of the SHA-256 of the text's UTF-8 bytes. */
export function configDigest(content: string): string {
  return sha256(content).slice(0, CONFIG_DIGEST_LENGTH);
}

/** Fingerprint of a spec as it is stored: changes exactly when the spec changes. */
export function versionDigest(spec: unknown): string {
  return sha256(canonicalJson(spec)).slice(0, VERSION_DIGEST_LENGTH);
}

/** JSON without spaces and with sorted keys; absent and `undefined` members are the same. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}
