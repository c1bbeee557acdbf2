/** How the fault proxy speaks to the API server: as the client that speaks to the proxy. */
import { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import { parse } from "yaml";
import type { ApiServer, Identity } from "../api-server.ts";

/** Connection and headers of one client's requests. */
export interface UpstreamAccess {
  agent: Agent;
  headers: Record<string, string>;
}

export interface Upstream {
  /** Access with the identity of the client certificate, if there is one; else the client's own headers decide. */
  accessFor(socket: TLSSocket): Promise<UpstreamAccess>;
  close(): void;
}

interface KubeconfigUser {
  "client-certificate-data"?: string;
  "client-key-data"?: string;
  token?: string;
}

/**
 * TLS ends in the proxy, so a client certificate does not reach the server. For each identity that it sees, the proxy
 * gets a kubeconfig of that very identity from the API server's harness. Bearer tokens pass as they are.
 */
export function upstreamOf(server: ApiServer): Upstream {
  const anonymous: UpstreamAccess = { agent: new Agent({ keepAlive: true, ca: server.ca }), headers: {} };
  const byIdentity = new Map<string, Promise<UpstreamAccess>>();

  const open = async (identity: Identity): Promise<UpstreamAccess> => {
    const config = parse(await server.kubeconfig(identity)) as { users: { user: KubeconfigUser }[] };
    const user = config.users[0]?.user ?? {};
    const agent = new Agent({
      keepAlive: true,
      ca: server.ca,
      cert: decode(user["client-certificate-data"]),
      key: decode(user["client-key-data"]),
    });
    return { agent, headers: user.token === undefined ? {} : { authorization: `Bearer ${user.token}` } };
  };

  return {
    accessFor(socket) {
      const identity = identityOf(socket);
      if (identity === undefined) return Promise.resolve(anonymous);
      const key = JSON.stringify(identity);
      const access = byIdentity.get(key) ?? open(identity);
      byIdentity.set(key, access);
      return access;
    },
    close() {
      anonymous.agent.destroy();
      for (const access of byIdentity.values()) void access.then(({ agent }) => agent.destroy());
    },
  };
}

/** User and groups of a client certificate that the test CA signed: its CN and its Os. */
function identityOf(socket: TLSSocket): Identity | undefined {
  if (!socket.authorized) return undefined;
  const subject = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined;
  if (subject?.CN === undefined) return undefined;
  return { user: subject.CN, groups: subject.O === undefined ? [] : [subject.O].flat() };
}

function decode(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
}
