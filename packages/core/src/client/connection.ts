/** How to reach one API server and as whom. */
import type { SecureContext } from "node:tls";

/** TLS side of a connection. A change makes a new object, so identity tells whether sockets are still current. */
export interface TlsMaterial {
  /** CA, client certificate and key, parsed; absent for `http://` servers. */
  readonly secureContext: SecureContext | undefined;
  /** Name to verify the serving certificate against, when it is not the server's host. */
  readonly servername: string | undefined;
  readonly rejectUnauthorized: boolean;
}

/** What a request needs to prove who sends it. A change makes a new object. */
export interface Credentials {
  /** Authorization and impersonation; an array is sent as one header line per entry. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

/** A server, a way to it, and credentials that renew themselves. */
export interface Connection {
  /** URL of the server, with a path when it is served below one; no slash at the end. */
  readonly server: URL;
  /** Where this came from, for logs: `in-cluster`, or the kubeconfig's files and context. */
  readonly source: string;
  /** Namespace of the pod, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
  /** Name of the service account that this process runs as, in-cluster only. */
  readonly serviceAccount: string | undefined;
  /** Proxy to tunnel through. */
  readonly proxy: URL | undefined;
  /** Credentials in force; renewed in time. Rejects with `CredentialsError`. */
  credentials(): Credentials | Promise<Credentials>;
  /** Renews credentials that the server refused with 401; absent when there is nothing to renew. */
  refresh?(refused: Credentials): Promise<Credentials>;
}
