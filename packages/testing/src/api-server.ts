/** What a test sees of an API server, be it the double or the real one. */

/** One finished request as the server saw it. */
export interface RequestRecord {
  /** Kubernetes verb: get, list, watch, create, update, patch, apply, delete, deletecollection. */
  verb: string;
  /** Plural resource name, `""` for non-resource paths. */
  resource: string;
  group: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
  user: string;
  userAgent: string;
  code: number;
  /** Arrival, milliseconds since the Unix epoch. */
  at: number;
  dryRun: boolean;
}

/** Who a kubeconfig logs in as. */
export interface Identity {
  /** Default `quartet-admin`. */
  user?: string;
  /** Default `["system:masters"]`. */
  groups?: readonly string[];
}

export interface ApiServer {
  readonly target: "double" | "real";
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  /** Certificate of the CA that signed the serving certificate, PEM. */
  readonly ca: string;
  /** Kubernetes version, for example `v1.37.2`. */
  readonly version: string;
  /** Kubeconfig text for an identity; `server` replaces the URL (fault proxy). */
  kubeconfig(options?: Identity & { server?: string }): Promise<string>;
  /** Finished requests so far, in order of arrival. On the real server they come from its audit log. */
  requests(filter?: Partial<RequestRecord> & { since?: number }): Promise<RequestRecord[]>;
  stop(): Promise<void>;
}
