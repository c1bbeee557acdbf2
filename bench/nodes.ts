/** Many nodes at once, on a control plane without a controller manager: nobody else looks after their taints. */
import { setTimeout as sleep } from "node:timers/promises";
import { addNode, type TestClient } from "@quartet/testing";
import { forEach } from "./echoes.ts";

interface LiveNode {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly object[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const NODES = "/api/v1/nodes";
const MERGE = { contentType: "application/merge-patch+json" };
/** Nodes that are made, and listed, at a time: lists of thousands would take most of the API server's time. */
const BATCH = 500;
const BATCH_LABEL = "bench-batch";
const POLL_MS = 500;
const LIMIT_MS = 600_000;

/** Creates nodes and resolves when all of them are ready and open for pods. */
export async function createNodes(
  client: TestClient,
  nodes: readonly { readonly name: string; readonly labels: Record<string, string> }[],
): Promise<void> {
  for (let start = 0; start < nodes.length; start += BATCH) {
    const batch = nodes.slice(start, start + BATCH);
    await forEach(batch, ({ name, labels }) =>
      addNode(client, name, { labels: { ...labels, [BATCH_LABEL]: String(start) }, wait: false }),
    );
    await openNodes(client, `${NODES}?labelSelector=${BATCH_LABEL}%3D${start}`, batch.length);
  }
}

async function openNodes(client: TestClient, list: string, count: number): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const { items } = await client.ok<{ items: LiveNode[] }>("GET", list);
    const ready = items.filter(({ status }) =>
      status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
    );
    const tainted = ready.filter(({ spec }) => (spec.taints ?? []).length > 0);
    await forEach(tainted, async ({ metadata: { name } }) => {
      await client.ok("PATCH", `${NODES}/${name}`, { spec: { taints: null } }, MERGE);
    });
    if (ready.length >= count) return;
    if (Date.now() > deadline) throw new Error(`${ready.length} of ${count} nodes are ready`);
    await sleep(POLL_MS);
  }
}

/** What a kubelet tells now and then although nothing has changed. */
export async function heartbeats(client: TestClient, names: readonly string[]): Promise<void> {
  const contentType = "application/strategic-merge-patch+json";
  const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const status = { conditions: [{ type: "Ready", lastHeartbeatTime }] };
  await forEach(names, async (name) => {
    await client.ok("PATCH", `${NODES}/${name}/status`, { status }, { contentType });
  });
}
