/** Volumes for the claims of scenarios. */
import type { Objects } from "./objects.ts";
import type { Stage } from "./stage.ts";

/** A storage class, and bound claims as the StatefulSet would have them; the name of the class. */
export async function createStorage(
  stage: Stage,
  objects: Objects,
  name: string,
  replicas: number,
  allowVolumeExpansion = true,
): Promise<string> {
  const { client, namespace } = stage;
  const storageClassName = `${namespace}-class`;
  await client.ok("POST", "/apis/storage.k8s.io/v1/storageclasses", {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: storageClassName },
    provisioner: "kubernetes.io/no-provisioner",
    allowVolumeExpansion,
  });
  stage.onClose(() => client.request("DELETE", `/apis/storage.k8s.io/v1/storageclasses/${storageClassName}`));
  for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
    const claim = `db-${name}-${ordinal}`;
    const volumeName = `${namespace}-${ordinal}`;
    stage.onClose(() => client.request("DELETE", `/api/v1/persistentvolumes/${volumeName}`));
    const accessModes = ["ReadWriteOnce"];
    await client.ok("POST", "/api/v1/persistentvolumes", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: volumeName },
      spec: {
        accessModes,
        capacity: { storage: "1Gi" },
        storageClassName,
        hostPath: { path: "/tmp/none" },
        claimRef: { namespace, name: claim },
      },
    });
    await objects.create("persistentvolumeclaims", claim, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { labels: { app: name, middleware: "nacos", component: "nacos" } },
      spec: { accessModes, storageClassName, volumeName, resources: { requests: { storage: "1Gi" } } },
    });
    if (stage.target === "double") {
      // Nothing binds claims there.
      const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}/status`;
      const body = { status: { phase: "Bound" } };
      await client.ok("PATCH", path, body, { contentType: "application/merge-patch+json" });
    }
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}/status`;
    const status = { phase: "Bound", capacity: { storage: "1Gi" }, accessModes };
    await client.ok("PATCH", path, { status }, { contentType: "application/merge-patch+json" });
  }
  return storageClassName;
}
