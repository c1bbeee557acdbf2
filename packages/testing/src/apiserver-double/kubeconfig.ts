/** Kubeconfig text. */
import { stringify } from "yaml";
import type { KeyPair } from "../control-plane/pki.ts";

export interface KubeconfigParts {
  server: string;
  ca: string;
  user: string;
  credentials: KeyPair | { token: string };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

export function kubeconfigText({ server, ca, user, credentials }: KubeconfigParts): string {
  const login =
    "token" in credentials
      ? { token: credentials.token }
      : {
          "client-certificate-data": base64(credentials.cert),
          "client-key-data": base64(credentials.key),
        };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "double",
    clusters: [{ name: "double", cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [{ name: user, user: login }],
    contexts: [{ name: "double", context: { cluster: "double", user } }],
  });
}
