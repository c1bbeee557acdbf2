/**
 * Plays StatefulSet controller and kubelet for an API server that has neither: pods come and get ready at once, and a
 * changed template replaces them one by one, highest ordinal first.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";
import { canonicalJson } from "../../src/desired/digest.ts";

/** How often the StatefulSets are looked at, in milliseconds. */
const POLL_MS = 50;
/** Stands for minReadySeconds, of which a test has no time to wait for, in milliseconds. */
const STEADY_MS = 150;
const REVISION_LABEL = "controller-revision-hash";

interface Meta {
  name: string;
  uid: string;
  generation?: number;
  labels?: Record<string, string>;
  deletionTimestamp?: string;
  ownerReferences?: { uid: string }[];
  creationTimestamp?: string;
}
interface StatefulSet {
  metadata: Meta;
  spec: {
    replicas?: number;
    template: { metadata?: { labels?: object; annotations?: object }; spec: { volumes?: object[] } };
    volumeClaimTemplates?: { metadata: { name: string } }[];
    selector: object;
  };
  status?: { currentRevision?: string };
}
interface Pod {
  metadata: Meta;
}

/** Begins to play; the returned function ends it. */
export function simulateStatefulSets(client: TestClient, namespace: string): () => Promise<void> {
  const stop = new AbortController();
  const addresses = addressPool();
  const readySince = new Map<string, number>();
  const play = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
      const { items = [] } = (await client.request<{ items?: StatefulSet[] }>("GET", path)).body;
      await removeTerminating(client, namespace);
      for (const set of items) await step(client, namespace, set, addresses, readySince);
      await sleep(POLL_MS);
    }
  };
  const done = play();
  return async () => {
    stop.abort();
    await done;
  };
}

/** Pods that are to go are gone at once, as from a kubelet without anything to end. */
async function removeTerminating(client: TestClient, namespace: string): Promise<void> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = await client.ok<{ items: Pod[] }>("GET", pods);
  for (const { metadata } of items.filter((pod) => pod.metadata.deletionTimestamp !== undefined)) {
    await client.request("DELETE", `${pods}/${metadata.name}?gracePeriodSeconds=0`);
  }
}

async function step(
  client: TestClient,
  namespace: string,
  set: StatefulSet,
  nextAddress: () => string,
  readySince: Map<string, number>,
): Promise<void> {
  const { name, uid, generation } = set.metadata;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const list = await client.ok<{ items: Pod[] }>("GET", pods);
  const orphans = list.items.filter(({ metadata }) => isOrphanOf(metadata, name));
  for (const { metadata } of orphans) {
    const body = { metadata: { ownerReferences: [ownerReference(set)] } };
    await client.request("PATCH", `${pods}/${metadata.name}`, body, {
      contentType: "application/merge-patch+json",
    });
  }
  if (orphans.length > 0) return;
  const own = list.items.filter(({ metadata }) =>
    metadata.ownerReferences?.some((owner) => owner.uid === uid),
  );
  const replicas = set.spec.replicas ?? 1;
  const revision = revisionOf(set);
  for (const pod of own.filter(({ metadata }) => ordinalOf(metadata.name) >= replicas)) {
    await client.request("DELETE", `${pods}/${pod.metadata.name}?gracePeriodSeconds=0`);
  }
  const wanted = Array.from({ length: replicas }, (_, ordinal) => `${name}-${ordinal}`);
  const missing = wanted.filter((podName) => !own.some(({ metadata }) => metadata.name === podName));
  for (const podName of missing) await createPod(client, pods, set, podName, revision, nextAddress());
  const outdated = own.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] !== revision);
  for (const podName of missing) readySince.set(`${uid}/${podName}`, Date.now());
  const steady = wanted.every(
    (podName) => Date.now() - (readySince.get(`${uid}/${podName}`) ?? 0) >= STEADY_MS,
  );
  const victim = outdated
    .filter(({ metadata }) => ordinalOf(metadata.name) < replicas)
    .sort((a, b) => ordinalOf(b.metadata.name) - ordinalOf(a.metadata.name))[0];
  if (victim !== undefined && missing.length === 0 && steady) {
    await client.request("DELETE", `${pods}/${victim.metadata.name}?gracePeriodSeconds=0`);
  }
  const complete = outdated.length === 0 && missing.length === 0;
  await client.request(
    "PATCH",
    `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}/status`,
    {
      status: {
        observedGeneration: generation,
        replicas,
        readyReplicas: replicas - missing.length,
        availableReplicas: steady ? replicas - missing.length : 0,
        updatedReplicas: replicas - outdated.length,
        updateRevision: revision,
        currentRevision: complete ? revision : (set.status?.currentRevision ?? revision),
      },
    },
    { contentType: "application/merge-patch+json" },
  );
}

async function createPod(
  client: TestClient,
  pods: string,
  set: StatefulSet,
  name: string,
  revision: string,
  podIP: string,
): Promise<void> {
  const { template, volumeClaimTemplates = [] } = set.spec;
  const claims = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { ...template.metadata?.labels, [REVISION_LABEL]: revision },
      annotations: template.metadata?.annotations,
      ownerReferences: [ownerReference(set)],
    },
    spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims], nodeName: "node-0" },
  };
  const created = await client.request("POST", pods, pod);
  if (created.code >= 300) return;
  const conditions = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
  ].map((type) => ({ type, status: "True" }));
  const status = { phase: "Running", podIP, hostIP: "127.0.0.1", conditions };
  await client.request(
    "PATCH",
    `${pods}/${name}/status`,
    { status },
    { contentType: "application/merge-patch+json" },
  );
}

function isOrphanOf({ name, ownerReferences }: Meta, set: string): boolean {
  return name.startsWith(`${set}-`) && (ownerReferences ?? []).length === 0;
}

function ownerReference({ metadata }: StatefulSet): object {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
  };
}

function revisionOf({ metadata, spec }: StatefulSet): string {
  const hash = createHash("sha256").update(canonicalJson(spec.template)).digest("hex").slice(0, 10);
  return `${metadata.name}-${hash}`;
}

function ordinalOf(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
}

/** Loopback addresses that only this process uses. */
function addressPool(): () => string {
  let last = 0;
  const base = 1 + (process.pid % 200);
  return () => {
    last += 1;
    return `127.2.${base}.${last}`;
  };
}
