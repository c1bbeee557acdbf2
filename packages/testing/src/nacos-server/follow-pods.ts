/** Gives the pods of a StatefulSet a Nacos server each, at their own addresses. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";
import type { NacosCluster } from "./cluster.ts";
import type { NacosMember } from "./types.ts";

/** Pause before the pods are listed again, in milliseconds, when the watch has ended. */
const PAUSE_MS = 100;

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  status?: { podIP?: string };
}
interface PodList {
  metadata: { resourceVersion: string };
  items: Pod[];
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
    for await (const pods of podsAt(path, client, stop.signal)) {
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

/** The pods by name, now and after each change, until the signal; the API server may be away meanwhile. */
async function* podsAt(
  path: string,
  client: TestClient,
  signal: AbortSignal,
): AsyncGenerator<ReadonlyMap<string, Pod>> {
  while (!signal.aborted) {
    try {
      const { metadata, items } = await client.ok<PodList>("GET", path);
      const pods = new Map(items.map((pod) => [pod.metadata.name, pod]));
      yield pods;
      const watch = `${path}&watch=true&resourceVersion=${metadata.resourceVersion}`;
      for await (const { type, object } of client.stream<{ type: string; object: Pod }>(watch, signal)) {
        if (type === "ERROR") break;
        if (type === "DELETED") pods.delete(object.metadata.name);
        else pods.set(object.metadata.name, object);
        yield pods;
      }
    } catch {
      // Listed again, unless it is over.
    }
    if (!signal.aborted) await sleep(PAUSE_MS);
  }
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
