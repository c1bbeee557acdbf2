/** Kubeconfig texts with embedded credentials. */
import { stringify } from "yaml";
import type { KeyPair } from "./pki.ts";

/** A kubeconfig of one cluster, one user and one context. */
export function kubeconfigText(server: string, ca: string, user: string, credentials: KeyPair): string {
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "quartet", cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(credentials.cert),
          "client-key-data": base64(credentials.key),
        },
      },
    ],
    contexts: [{ name: "quartet", context: { cluster: "quartet", user } }],
    "current-context": "quartet",
  });
}
