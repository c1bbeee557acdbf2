/** What the demo shows of the DaemonSets: a label of a node replaces the pod of that node, and no other. */
import type { TestClient } from "@quartet/testing";
import { applySample, changesOf, merge, type PodList, type Stage, until } from "./stage.ts";

const SAMPLE = "samples/ds-patches/agent.yaml";
const DAEMON_SET = "/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets/agent";
const PODS = "/api/v1/namespaces/default/pods?labelSelector=app%3Dagent";
/** The label that the sample's patch selects. */
const LABEL = "example.com/storage";

interface DaemonSetStatus {
  status?: { numberReady?: number; desiredNumberScheduled?: number };
}

/** Applies the sample and labels a node. */
export async function daemonSetStory(stage: Stage, nodes: readonly string[]): Promise<void> {
  const { client, say } = stage;
  await applySample(stage, SAMPLE);
  await until("the DaemonSet is ready", async () => {
    const { status } = await client.ok<DaemonSetStatus>("GET", DAEMON_SET);
    return status?.desiredNumberScheduled === nodes.length && status.numberReady === nodes.length;
  });
  const before = await podOfNode(client);
  say(`DaemonSet agent: a ready pod on each of ${[...before.keys()].join(", ")}`);

  const node = nodes[0]!;
  const labelled = Date.now();
  await merge(client, `/api/v1/nodes/${node}`, { metadata: { labels: { [LABEL]: "large" } } });
  say(`labelled ${node} ${LABEL}=large, which the patch selects; a label must hold for ten seconds`);
  await until("its pod is replaced", async () => {
    const { status } = await client.ok<DaemonSetStatus>("GET", DAEMON_SET);
    const now = (await podOfNode(client)).get(node);
    return now !== undefined && now.uid !== before.get(node)?.uid && status?.numberReady === nodes.length;
  });
  const after = await podOfNode(client);
  const replaced = [...after].filter(([name, { uid }]) => before.get(name)?.uid !== uid);
  const told = replaced.map(([name, { cache }]) => `${name} (CACHE_SIZE=${cache})`).join(", ");
  if (replaced.length !== 1) throw new Error(`pods of these nodes were replaced: ${told}`);
  say(`replaced the pod of ${told}, and no other`);
  say(`requests of the controller for it: ${(await changesOf(stage, labelled)).join(", ")}`);
}

/** Uid of each node's pod and the size of its cache. */
async function podOfNode(client: TestClient): Promise<Map<string, { uid: string; cache: string }>> {
  const { items } = await client.ok<PodList>("GET", PODS);
  const found = items.map(({ metadata, spec }) => {
    const cache = spec.containers[0]?.env?.find(({ name }) => name === "CACHE_SIZE")?.value ?? "";
    return [spec.nodeName ?? "", { uid: metadata.uid, cache }] as const;
  });
  return new Map(found.sort());
}
