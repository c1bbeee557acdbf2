/** Volumes for claims, so that pods with claims are scheduled: as a cluster's own provisioner makes them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";

/** Name of the storage class; it is the default one. */
export const STORAGE_CLASS = "standard";
const PROVISIONER = "quartet.io/test";
/** How often claims and volumes are looked at, in milliseconds. */
const POLL_MS = 250;

const CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const VOLUMES = "/api/v1/persistentvolumes";
const CLAIMS = "/api/v1/persistentvolumeclaims";

interface Claim {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    storageClassName?: string;
    volumeName?: string;
    accessModes?: string[];
    volumeMode?: string;
    resources: { requests: { storage: string } };
  };
  status?: { phase?: string; capacity?: { storage?: string } };
}

interface Volume {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { capacity: { storage: string } };
  status?: { phase?: string };
}

/**
 * Makes the default storage class and, until the returned function is called, a volume for each claim of it. Claims grow
 * when they are asked to, and a volume goes with its claim.
 */
export async function startProvisioner(client: TestClient): Promise<() => Promise<void>> {
  await client.ok(
    "PATCH",
    `${CLASSES}/${STORAGE_CLASS}?fieldManager=provisioner&force=true`,
    storageClass(),
    {
      contentType: "application/apply-patch+yaml",
    },
  );
  const stop = new AbortController();
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await provide(client).catch((error: unknown) => {
        if (!stop.signal.aborted) console.error(`provisioner: ${(error as Error).message}`);
      });
      await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const done = work();
  return async () => {
    stop.abort();
    await done;
  };
}

function storageClass(): object {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: {
      name: STORAGE_CLASS,
      annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    },
    provisioner: PROVISIONER,
    allowVolumeExpansion: true,
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  };
}

async function provide(client: TestClient): Promise<void> {
  const { items: claims } = await client.ok<{ items: Claim[] }>("GET", CLAIMS);
  const { items: volumes } = await client.ok<{ items: Volume[] }>("GET", VOLUMES);
  const byName = new Map(volumes.map((volume) => [volume.metadata.name, volume]));
  for (const claim of claims.filter(({ spec }) => spec.storageClassName === STORAGE_CLASS)) {
    const volume = byName.get(volumeName(claim));
    if (volume === undefined && !claim.spec.volumeName)
      await client.request("POST", VOLUMES, volumeFor(claim));
    else if (volume !== undefined && claim.status?.phase === "Bound") await grow(client, claim, volume);
  }
  for (const { metadata, status } of volumes) {
    const ours = metadata.annotations?.["pv.kubernetes.io/provisioned-by"] === PROVISIONER;
    if (ours && status?.phase === "Released") await client.request("DELETE", `${VOLUMES}/${metadata.name}`);
  }
}

const volumeName = ({ metadata }: Claim): string => `pvc-${metadata.uid}`;

function volumeFor(claim: Claim): object {
  const { name, namespace, uid } = claim.metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: volumeName(claim),
      annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER },
    },
    spec: {
      storageClassName: STORAGE_CLASS,
      capacity: { storage: claim.spec.resources.requests.storage },
      accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
      volumeMode: claim.spec.volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: "Delete",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
      hostPath: { path: `/tmp/${volumeName(claim)}` },
    },
  };
}

/** First the volume, then what the claim says of it. */
async function grow(client: TestClient, claim: Claim, volume: Volume): Promise<void> {
  const { storage } = claim.spec.resources.requests;
  const patch = { contentType: "application/merge-patch+json" };
  if (volume.spec.capacity.storage !== storage) {
    await client.request(
      "PATCH",
      `${VOLUMES}/${volumeName(claim)}`,
      { spec: { capacity: { storage } } },
      patch,
    );
  }
  if (claim.status?.capacity?.storage !== storage) {
    const { name, namespace } = claim.metadata;
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}/status`;
    await client.request("PATCH", path, { status: { capacity: { storage } } }, patch);
  }
}
