/** Gives the pods of a StatefulSet a Nacos server each, at their own addresses. */
import { liveList } from "../live-list.ts";
import type { TestClient } from "../request.ts";
import type { NacosCluster } from "./cluster.ts";
import type { NacosMember } from "./types.ts";

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  status?: { podIP?: string };
}

/**
 * Keeps the members of the installation equal to the pods with label `app=<name>` that have an address, by ordinal. Pod
 * addresses must be loopback ones. The returned function ends it; the servers stay until the installation is closed.
 */
export function followPods(
  cluster: NacosCluster,
  client: TestClient,
  place: { readonly namespace: string; readonly name: string },
): () => Promise<void> {
  const stop = new AbortController();
  const path = `/api/v1/namespaces/${place.namespace}/pods?labelSelector=app%3D${place.name}`;
  const follow = async (): Promise<void> => {
    for await (const pods of liveList<Pod>(client, path, stop.signal)) {
      await cluster.setMembers(membersOf(pods, place));
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
  pods: ReadonlyMap<string, Pod>,
  { name, namespace }: { name: string; namespace: string },
): NacosMember[] {
  return [...pods.values()]
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.podIP !== undefined)
    .map(({ metadata, status }) => ({
      ip: status!.podIP!,
      host: `${metadata.name}.${name}-headless.${namespace}.svc.cluster.local`,
    }))
    .sort((a, b) => a.host.localeCompare(b.host, "en", { numeric: true }));
}
