/** The cluster of the current kubeconfig as API server of the tests. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { parse, stringify } from "yaml";
import type { ApiServer } from "../api-server.ts";
import { testClient } from "../request.ts";
import type { Environment } from "./programs.ts";

interface Named {
  name: string;
}

interface Kubeconfig {
  clusters: (Named & { cluster: { server: string; "certificate-authority-data"?: string } })[];
  users: (Named & { user: object })[];
  contexts: (Named & { context: { cluster: string; user: string } })[];
  "current-context": string;
}

/** True when the tests are to use the cluster of the current kubeconfig: `USE_EXISTING_CLUSTER=true`. */
export function wantsExistingCluster(env: Environment = process.env): boolean {
  return env.USE_EXISTING_CLUSTER === "true";
}

/**
 * The cluster of the current context of the first file of `KUBECONFIG`, else of `~/.kube/config`. Credentials have to
 * be embedded (data, not files). It has one identity, and no audit log: `kubeconfig` for another identity and
 * `requests` throw.
 */
export async function existingCluster(env: Environment = process.env): Promise<ApiServer> {
  const file =
    env.KUBECONFIG?.split(delimiter).find((path) => path !== "") ?? join(homedir(), ".kube", "config");
  const config = currentContextOnly(parse(readFileSync(file, "utf8")) as Kubeconfig, file);
  const { cluster } = config.clusters[0]!;
  const client = testClient(stringify(config));
  const { gitVersion } = await client.ok<{ gitVersion: string }>("GET", "/version");
  client.close();
  return {
    target: "real",
    url: cluster.server,
    ca: Buffer.from(cluster["certificate-authority-data"] ?? "", "base64").toString("utf8"),
    version: gitVersion,
    async kubeconfig({ user, groups, server } = {}) {
      if (user !== undefined || groups !== undefined) {
        throw new Error(
          `an existing cluster has the identity of ${file} only: use a control plane of the tests`,
        );
      }
      if (server === undefined) return stringify(config);
      return stringify({ ...config, clusters: [{ name: "quartet", cluster: { ...cluster, server } }] });
    },
    async requests() {
      throw new Error("an existing cluster shows no audit log: use a control plane of the tests");
    },
    async stop() {},
  };
}

/** Reduces a kubeconfig to its current context. */
function currentContextOnly(config: Kubeconfig, file: string): Kubeconfig {
  const current = config["current-context"];
  const context = config.contexts.find(({ name }) => name === current)?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster);
  const user = config.users.find(({ name }) => name === context?.user);
  if (context === undefined || cluster === undefined || user === undefined) {
    throw new Error(
      `${file}: context "${current}" names no cluster and user of this file: set current-context`,
    );
  }
  return {
    ...config,
    clusters: [{ ...cluster, name: "quartet" }],
    users: [{ ...user, name: "quartet" }],
    contexts: [{ name: "quartet", context: { cluster: "quartet", user: "quartet" } }],
    "current-context": "quartet",
  };
}
