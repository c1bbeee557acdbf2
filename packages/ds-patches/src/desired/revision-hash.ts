/** The hash in the name of a base revision (DSP-607). */

/** Parameters of 32-bit FNV-1a. */
const OFFSET_BASIS = 2_166_136_261;
const PRIME = 16_777_619;
/** Letters and digits without vowels and look-alikes, as Kubernetes takes them for random names. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Hash of a template's canonical JSON.
 * @param collisionCount of the DaemonSet's status, when it has one
 */
export function revisionHash(canonicalTemplate: string, collisionCount?: number): string {
  const text = collisionCount === undefined ? canonicalTemplate : `${canonicalTemplate}${collisionCount}`;
  return safeEncoded(String(fnv1a(text)));
}

/** 32-bit FNV-1a of the text's UTF-8 bytes. */
export function fnv1a(text: string): number {
  let hash = OFFSET_BASIS;
  for (const byte of Buffer.from(text, "utf8")) hash = Math.imul(hash ^ byte, PRIME) >>> 0;
  return hash;
}

/** Each character replaced by one of the alphabet, chosen by its code. */
export function safeEncoded(text: string): string {
  return [...text].map((char) => ALPHABET[char.charCodeAt(0) % ALPHABET.length]).join("");
}
