/** A thousand nodes: a patch is made once for each group of them, and a change of it touches its group alone. */
import { dsPatchesModule } from "@quartet/ds-patches";
import { type ApiServer, addNode, startControlPlane } from "@quartet/testing";
import { eventually, openStage } from "@quartet/testing/stage";
import { afterAll, beforeAll, expect, it } from "vitest";

const NODES = 1_000;
const GROUPS = 4;
const PATCHES = 10;
const AT_ONCE = 25;
const START_MS = 300_000;
const TEST_MS = 900_000;
const SETTLE_MS = 300_000;
const POD_CIDR = "127.4.0.0/16";
const MERGE = { contentType: "application/merge-patch+json" };

// Nodes and their heartbeats are the whole server's, and no program of it is limited.
let server: ApiServer;
beforeAll(async () => {
  server = await startControlPlane({ podCidr: POD_CIDR, benchmark: true, controllerManager: false });
}, START_MS);
afterAll(() => server?.stop(), START_MS);

/** Two or three patches for each group; the value is that of the first one. */
const patchesWith = (value: string): object[] =>
  Array.from({ length: PATCHES }, (_, index) => ({
    selector: { matchLabels: { group: String(index % GROUPS) } },
    patch: {
      spec: {
        containers: [{ name: "main", env: [{ name: `V${index}`, value: index === 0 ? value : "x" }] }],
      },
    },
  }));

async function inGroups(names: readonly string[], fn: (name: string) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < names.length; first += AT_ONCE) {
    await Promise.all(names.slice(first, first + AT_ONCE).map(fn));
  }
}

interface LivePod {
  metadata: { uid: string; resourceVersion: string; deletionTimestamp?: string };
  spec: { nodeName?: string; containers: { env: { name: string; value: string }[] }[] };
}

it("ds-patches S25 DSP-1042 DSP-613 a thousand nodes in four groups: four templates, and a changed patch replaces 250 pods", {
  timeout: TEST_MS,
}, async () => {
  const stage = await openStage({ modules: [dsPatchesModule], server });
  const { client, namespace } = stage;
  const names = Array.from({ length: NODES }, (_, index) => `n${String(index).padStart(4, "0")}`);
  const groupOf = (node: string): number => Number(node.slice(1)) % GROUPS;
  await inGroups(names, (name) =>
    addNode(client, name, { labels: { group: String(groupOf(name)) }, wait: false }),
  );
  // Without the controller manager nobody else takes off what a new node is tainted with.
  await inGroups(names, (name) =>
    client.ok("PATCH", `/api/v1/nodes/${name}`, { spec: { taints: null } }, MERGE),
  );
  const manager = await stage.start({ logLevel: "error" });
  const sets = `/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets`;
  await client.ok("POST", sets, {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: { labels: { app: "agent" } },
        spec: { containers: [{ name: "main", image: "agent:1" }] },
      },
      patches: patchesWith("1"),
    },
  });
  const settled = (generation: number): Promise<void> =>
    eventually(async () => {
      const { status } = await client.ok<{ status?: object }>("GET", `${sets}/agent`);
      expect(status).toMatchObject({
        observedGeneration: generation,
        desiredNumberScheduled: NODES,
        updatedNumberScheduled: NODES,
        numberAvailable: NODES,
      });
    }, SETTLE_MS);
  const podsByNode = async (): Promise<Map<string, LivePod>> => {
    const { items } = await client.ok<{ items: LivePod[] }>("GET", `/api/v1/namespaces/${namespace}/pods`);
    const live = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return new Map(live.map((pod) => [pod.spec.nodeName ?? "", pod]));
  };
  await settled(1);
  const before = await podsByNode();
  expect([...before.keys()].sort()).toEqual(names);
  const made = (cache: string, count: number): RegExp =>
    new RegExp(`^daemonset_patches_duration_seconds_count\\{mode="owner",cache="${cache}"\\} ${count}$`, "m");
  expect(await manager.metrics()).toMatch(made("miss", GROUPS));
  expect(await manager.metrics()).toMatch(made("hit", NODES - GROUPS));

  await client.ok("PATCH", `${sets}/agent`, { spec: { patches: patchesWith("2") } }, MERGE);
  await settled(2);
  const after = await podsByNode();
  const changed = names.filter((name) => after.get(name)?.metadata.uid !== before.get(name)?.metadata.uid);
  expect(changed).toEqual(names.filter((name) => groupOf(name) === 0));
  for (const name of changed) {
    expect(after.get(name)?.spec.containers[0]?.env).toContainEqual({ name: "V0", value: "2" });
  }
  for (const name of names.filter((name) => groupOf(name) !== 0)) {
    expect(after.get(name)?.metadata.resourceVersion).toBe(before.get(name)?.metadata.resourceVersion);
  }
  expect((await stage.writes()).filter((line) => line.startsWith("create pods"))).toHaveLength(
    NODES + NODES / GROUPS,
  );
  await stage.close();
});
