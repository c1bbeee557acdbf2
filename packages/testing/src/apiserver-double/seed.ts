/** What a new cluster already holds. */
import { randomUUID } from "node:crypto";
import { timestamp } from "./clock.ts";
import { type KubeObject, keyOf } from "./object.ts";
import type { Server } from "./server.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Roles that charts and tests refer to. */
const CLUSTER_ROLES: Record<string, unknown[]> = {
  "cluster-admin": [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ],
};

export function seed(server: Server): void {
  const created = timestamp(server.clock.now());
  const put = (collection: string, object: KubeObject): void => {
    object.metadata.uid = randomUUID();
    object.metadata.creationTimestamp = created;
    server.store.put(collection, keyOf(object.metadata.namespace, object.metadata.name), object);
  };
  for (const name of NAMESPACES) {
    put("namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  }
  for (const [name, rules] of Object.entries(CLUSTER_ROLES)) {
    put("clusterroles.rbac.authorization.k8s.io", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name },
      rules,
    });
  }
  put("clusterrolebindings.rbac.authorization.k8s.io", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "cluster-admin" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:masters" }],
  });
}
