/** The merged configuration: the internal properties, then the user's. */

/** Limit of a ConfigMap's and a Secret's values together, in bytes (Kubernetes' `MaxSecretSize`). */
export const MAX_CONFIG_BYTES: number = 1_048_576;

const INTERNAL_HEADER = "# ===== Internal Configuration =====\n";
const USER_HEADER = "# ===== User Configuration =====\n";

/** Texts of the two sources; an absent one is the empty string. */
export interface ConfigSections {
  readonly internal: string;
  readonly user: string;
}

/**
 * Joins the sources byte by byte: nothing is trimmed, escaped, reordered or removed. An empty source leaves no
 * header. The blank line after the internal text also ends a line continuation that the text may end with.
 */
export function mergeConfig({ internal, user }: ConfigSections): string {
  const first = internal === "" ? "" : `${INTERNAL_HEADER}${internal}\n\n`;
  const second = user === "" ? "" : `${USER_HEADER}${user}\n`;
  return first + second;
}

/** Size of a text as the API server counts it: its UTF-8 bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
