/** The connection of a pod to its own cluster. */
import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import type { Connection } from "./connection.ts";
import { bearer, renewingCredentials, tlsInputs, tokenIdentity } from "./credentials.ts";
import { fileValue } from "./files.ts";
import { type Environment, proxyFor } from "./proxy.ts";

/** Where the kubelet mounts the service account of a pod. */
const SERVICE_ACCOUNT_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  env: Environment;
  clock: Clock;
  log: Logger | undefined;
  /** Folder with `ca.crt`, `token` and `namespace`. Default: the service-account mount. */
  mount?: string | undefined;
}

/** Connection by the pod's environment and service-account files. Throws when one of them is missing. */
export function inClusterConnection(options: InClusterOptions): Connection {
  const { env, clock, log } = options;
  const mount = options.mount ?? SERVICE_ACCOUNT_MOUNT;
  const host = env.KUBERNETES_SERVICE_HOST ?? "";
  const port = env.KUBERNETES_SERVICE_PORT ?? "";
  if (host === "" || port === "") {
    throw new Error("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set");
  }
  const server = new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  const verify = { servername: undefined, rejectUnauthorized: true };
  const token = fileValue([join(mount, "token")], ([content]) => bearer(content), clock, log);
  const tls = fileValue([join(mount, "ca.crt")], ([ca]) => tlsInputs(ca ? { ca } : {}, verify), clock, log);
  return {
    server,
    source: "in-cluster",
    namespace: optionalFile(join(mount, "namespace")),
    serviceAccount: serviceAccountOf(token.get().authorization ?? ""),
    proxy: proxyFor(server, undefined, env),
    ...renewingCredentials(tokenIdentity(token), tls),
  };
}

function optionalFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

interface TokenClaims {
  sub?: string;
  "kubernetes.io"?: { serviceaccount?: { name?: string } };
}

/** Name of the service account in a token's claims; `undefined` for tokens that are no JWT. */
function serviceAccountOf(token: string): string | undefined {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
    const claims = JSON.parse(payload) as TokenClaims;
    // Tokens of old clusters carry it in `sub` alone: system:serviceaccount:<namespace>:<name>.
    const fromSubject = /^system:serviceaccount:[^:]+:(.+)$/.exec(claims.sub ?? "")?.[1];
    return claims["kubernetes.io"]?.serviceaccount?.name ?? fromSubject;
  } catch {
    return undefined;
  }
}
