/** The configuration of a tunnel as far as routing goes. */

/** One rule; members may be missing, and of any type where they come from outside. */
export interface IngressRule {
  readonly hostname?: unknown;
  /** RE2 expression, searched in the path of the request. */
  readonly path?: unknown;
  readonly service?: unknown;
  readonly originRequest?: unknown;
}

export interface IngressConfig {
  readonly ingress?: readonly IngressRule[];
  /** Defaults of all rules. */
  readonly originRequest?: unknown;
}

/**
 * Where the configuration stands: `remote` is JSON of the Cloudflare API, durations are whole seconds; `file` is
 * cloudflared's own YAML file, durations are texts like `30s`.
 */
export type ConfigForm = "remote" | "file";
