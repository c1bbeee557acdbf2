/** Nodes of a test cluster. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";

export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/**
 * Of a node that a test adds to a control plane which others use too. The scheduler prefers nodes without it: pods of
 * other tests would go with the node, and be made anew elsewhere. It keeps out no pod that has no other place.
 */
export const OWN_NODE_TAINT: Taint = { key: "quartet.io/test", effect: "PreferNoSchedule" };

export interface NodeOptions {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  taints?: readonly Taint[];
  /** Default true: resolves when the node is ready and open for pods. */
  wait?: boolean;
}

interface Node {
  metadata: { name: string };
  spec: { taints?: Taint[] };
  status?: { conditions?: { type: string; status: string }[] };
}

/** Taint that the API server puts on every new node. */
const NOT_READY_TAINT = "node.kubernetes.io/not-ready";
const POLL_MS = 50;
const LIMIT_MS = 30_000;
const CONFLICT = 409;

/**
 * Creates a node that kwok brings to life, and resolves when pods can run there. The taint `not-ready` is removed here,
 * since the node controller lifts it from about 5 nodes a second only.
 */
export async function addNode(client: TestClient, name: string, options: NodeOptions = {}): Promise<void> {
  await client.ok("POST", "/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ...options.labels,
      },
      ...(options.annotations && { annotations: options.annotations }),
    },
    spec: { ...(options.taints && { taints: options.taints }) },
  });
  if (options.wait ?? true) await openNode(client, name);
}

/** Deletes a node; a node that is gone is no error. */
export async function removeNode(client: TestClient, name: string): Promise<void> {
  await client.request("DELETE", `/api/v1/nodes/${name}`);
}

async function openNode(client: TestClient, name: string): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    const node = await client.ok<Node>("GET", path);
    if (isReady(node)) {
      const taints = node.spec.taints ?? [];
      if (!taints.some(({ key }) => key === NOT_READY_TAINT)) return;
      const left = taints.filter(({ key }) => key !== NOT_READY_TAINT);
      const patch = [
        { op: "test", path: "/spec/taints", value: taints },
        { op: "replace", path: "/spec/taints", value: left },
      ];
      const contentType = "application/json-patch+json";
      const answer = await client.request("PATCH", path, patch, { contentType });
      if (answer.code < 400) return;
      // The node controller was quicker: look again.
      if (answer.code !== CONFLICT && answer.code !== 422) throw new Error(`PATCH ${path}: ${answer.code}`);
    }
    await sleep(POLL_MS);
  }
  throw new Error(`node ${name} is not ready after ${LIMIT_MS / 1000} s: does kwok run?`);
}

function isReady(node: Node): boolean {
  return (node.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True");
}
