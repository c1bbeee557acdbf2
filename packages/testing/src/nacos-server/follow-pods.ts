/** Gives the pods of a StatefulSet a Nacos server each, at their own addresses. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";
import type { NacosCluster } from "./cluster.ts";
import type { NacosMember } from "./types.ts";

/** How often the pods are looked at, in milliseconds. */
const POLL_MS = 100;

interface PodList {
  items: { metadata: { name: string; deletionTimestamp?: string }; status?: { podIP?: string } }[];
}

/**
 * Keeps the members of the installation equal to the pods with label `app=<name>` that have an address, by ordinal. Pod
 * addresses must be loopback ones. The returned function ends it; the servers stay until the installation is closed.
 */
export function followPods(
  cluster: NacosCluster,
  client: TestClient,
  pods: { readonly namespace: string; readonly name: string },
): () => Promise<void> {
  const stop = new AbortController();
  const path = `/api/v1/namespaces/${pods.namespace}/pods?labelSelector=app%3D${pods.name}`;
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const { body, code } = await client.request<PodList>("GET", path);
      if (code === 200) await cluster.setMembers(membersOf(body, pods));
      await sleep(POLL_MS);
    }
  };
  const done = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return async () => {
    stop.abort();
    await done;
  };
}

function membersOf(
  { items }: PodList,
  { name, namespace }: { name: string; namespace: string },
): NacosMember[] {
  return items
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.podIP !== undefined)
    .map(({ metadata, status }) => ({
      ip: status!.podIP!,
      host: `${metadata.name}.${name}-headless.${namespace}.svc.cluster.local`,
    }))
    .sort((a, b) => a.host.localeCompare(b.host, "en", { numeric: true }));
}
