/** Companion mode: pods that another controller creates are patched as they are stored, and replaced when they drift. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dsPatchesModule } from "@quartet/ds-patches";
import { startManager } from "@quartet/manager";
import { addNode } from "@quartet/testing";
import { type Arena, startArena } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

const START_MS = 180_000;
/** A pod that would be deleted is deleted in much less. */
const QUIET_MS = 3_000;
const MERGE = { contentType: "application/merge-patch+json" };
const PATCHES = "daemonset.kruise.io/patches";
const HASH = "daemonset.kruise.io/patch-combined-hash";
const STATE = "lifecycle.apps.kruise.io/state";
const SETS = "/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets";
const PODS = "/api/v1/namespaces/default/pods";
const HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const NAME = "agent";

interface LivePod {
  metadata: {
    name: string;
    uid: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec: {
    affinity: object;
    tolerations: { key?: string }[];
    volumes?: { name: string }[];
    containers: { env: { name: string; value: string }[] }[];
  };
}

let arena: Arena;
let folder: string;
let manager: Awaited<ReturnType<typeof startManager>> | undefined;
beforeAll(async () => {
  const real = process.env.QUARTET_TARGET === "real";
  arena = await startArena({ modules: [dsPatchesModule] }, { real, nodes: [] });
  folder = await mkdtemp(join(tmpdir(), "quartet-companion-"));
  await writeFile(join(folder, "kubeconfig"), await arena.kubeconfig(), { mode: 0o600 });
  await addNode(arena.client, "n1", { labels: { size: "large" } });
  for (const name of ["n2", "n3"]) await addNode(arena.client, name);
  await start();
}, START_MS);
afterAll(async () => {
  await manager?.stop();
  await arena.close();
  await rm(folder, { recursive: true, force: true });
}, START_MS);

async function start(): Promise<void> {
  manager = await startManager({
    modules: [dsPatchesModule],
    args: [
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      "--daemonset-mode=companion",
      "--patch-drift-settle=0s",
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
  await manager.ready;
  // The API server learns of webhooks by a watch of its own.
  await eventually(async () => expect((await send(setWith("{"), "?dryRun=All")).code).toBe(422));
}

const setWith = (patches: string, spec: object = {}) => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: NAME, annotations: { [PATCHES]: patches } },
  spec: {
    selector: { matchLabels: { app: NAME } },
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
    template: {
      metadata: { labels: { app: NAME } },
      spec: {
        containers: [{ name: "main", image: "agent:1", env: [{ name: "CACHE", value: "500Gi" }] }],
      },
    },
    ...spec,
  },
});
const cache = (value: string, more: object = {}) =>
  JSON.stringify([
    {
      selector: { matchLabels: { size: "large" } },
      patch: { spec: { ...more, containers: [{ name: "main", env: [{ name: "CACHE", value }] }] } },
    },
  ]);
const send = (body: object, query = "") =>
  arena.client.request<{ metadata: { uid: string }; message?: string }>("POST", `${SETS}${query}`, body);
const change = (body: object) => arena.client.ok("PATCH", `${SETS}/${NAME}`, body, MERGE);
const annotate = (annotations: object) => change({ metadata: { annotations } });

/** What OpenKruise would say of its roll-out. */
async function settle(revision = "r1"): Promise<void> {
  const { metadata } = await arena.client.ok<{ metadata: { generation: number } }>("GET", `${SETS}/${NAME}`);
  const counts = ["current", "desired", "updated"].map((name) => [`${name}NumberScheduled`, 3]);
  const status = {
    ...Object.fromEntries(counts),
    numberMisscheduled: 0,
    numberReady: 3,
    updateRevision: revision,
    observedGeneration: metadata.generation,
  };
  await arena.client.ok("PATCH", `${SETS}/${NAME}/status`, { status }, MERGE);
}

/** The pod that OpenKruise would create, as it is stored. */
function createPod(owner: string, node: string): Promise<LivePod> {
  return arena.client.ok("POST", PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${NAME}-${node}`,
      labels: { app: NAME, "controller-revision-hash": "r1" },
      ownerReferences: [
        {
          apiVersion: "apps.kruise.io/v1alpha1",
          kind: "DaemonSet",
          name: NAME,
          uid: owner,
          controller: true,
        },
      ],
    },
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }],
          },
        },
      },
      containers: [{ name: "main", image: "agent:1", env: [{ name: "CACHE", value: "500Gi" }] }],
    },
  });
}

async function pods(): Promise<Map<string, LivePod>> {
  const { items } = await arena.client.ok<{ items: LivePod[] }>("GET", PODS);
  const live = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Map(live.map((pod) => [pod.metadata.name.slice(NAME.length + 1), pod]));
}
const cacheOf = (pod: LivePod | undefined): string | undefined =>
  pod?.spec.containers[0]?.env.find(({ name }) => name === "CACHE")?.value;
/** Resolves when there is no such pod any more, not even one that ends. */
const gone = (node: string) =>
  eventually(async () => {
    expect((await arena.client.request("GET", `${PODS}/${NAME}-${node}`)).code).toBe(404);
  });
const uidOf = async (node: string): Promise<string | undefined> => (await pods()).get(node)?.metadata.uid;

let uid: string;
beforeEach(async () => {
  await arena.client.request("DELETE", `${PODS}?gracePeriodSeconds=0`);
  await arena.client.request("DELETE", `${SETS}/${NAME}`);
  for (const node of ["n1", "n2", "n3"]) await gone(node);
  uid = (await send(setWith(cache("2Ti")))).body.metadata.uid;
  await settle();
  // On a busy machine the hook may be late, and lets pods pass: one without its patch would be replaced (DSP-913).
  await eventually(async () => {
    const pod = await createPod(uid, "n1");
    if (cacheOf(pod) !== "2Ti")
      await arena.client.request("DELETE", `${PODS}/${NAME}-n1?gracePeriodSeconds=0`);
    expect(cacheOf(pod)).toBe("2Ti");
  });
  for (const node of ["n2", "n3"]) await createPod(uid, node);
});

/** Everybody runs, as OpenKruise waits for. */
const running = () =>
  eventually(async () => {
    const { items } = await arena.client.ok<{ items: { status?: { phase?: string } }[] }>("GET", PODS);
    expect(items.map(({ status }) => status?.phase)).toEqual(["Running", "Running", "Running"]);
  });

describe("companion mode", () => {
  it("ds-patches S20 DSP-901 DSP-903 DSP-905 DSP-906 DSP-909 a pod gets its node's patches as it is stored, others none", async () => {
    const all = await pods();
    const [patched, plain] = [all.get("n1")!, all.get("n2")!];
    expect([cacheOf(patched), cacheOf(plain)]).toEqual(["2Ti", "500Gi"]);
    expect(patched.metadata.annotations?.[HASH]).toMatch(/^[0-9a-f]{16}$/);
    expect(patched.metadata.annotations?.["daemonset.kruise.io/patches-applied"]).toMatch(/\/0$/);
    expect(plain.metadata.annotations?.[HASH]).toBeUndefined();
    expect(patched.spec.tolerations.map(({ key }) => key)).toContain("node.kubernetes.io/unschedulable");
    expect(JSON.stringify(patched.spec.affinity)).toContain('"values":["n1"]');
    expect(patched.spec.volumes).toEqual(
      plain.spec.volumes?.map(() => expect.objectContaining({ name: expect.any(String) })),
    );
  });

  it("DSP-902 DSP-912 a pod of a DaemonSet that is not there, or is another one, stays as it is", async () => {
    await arena.client.request("DELETE", `${PODS}/${NAME}-n1?gracePeriodSeconds=0`);
    await gone("n1");
    // The garbage collector takes it away soon.
    expect(cacheOf(await createPod("00000000-0000-0000-0000-000000000000", "n1"))).toBe("500Gi");
  });

  it("DSP-907 patches that cannot be applied keep no pod from being made", async () => {
    // As if it had been written while nobody judged it.
    await manager?.stop();
    await annotate({ [PATCHES]: cache("x", { containers: [{ image: "no name" }] }) });
    await annotate({ [PATCHES]: '[{"selector":{},"patch":{"spec":{"nodeName":"n9"}}}]' });
    await start();
    await arena.client.request("DELETE", `${PODS}/${NAME}-n2?gracePeriodSeconds=0`);
    await gone("n2");
    await createPod(uid, "n2");
    const pod = (await pods()).get("n2");
    expect([cacheOf(pod), pod?.metadata.annotations?.[HASH]]).toEqual(["500Gi", undefined]);
    // Nor is it replaced: the next one would be no other.
    await running();
    await sleep(QUIET_MS);
    expect(await uidOf("n2")).toBe(pod?.metadata.uid);
  });

  it("DSP-212 DSP-334 DSP-368 an annotation that cannot be read is refused, and so is one that loses injected volumes", async () => {
    await expect(annotate({ [PATCHES]: "[{]" })).rejects.toThrow(
      /422.*metadata.annotations\[daemonset.kruise.io\/patches\]: is no JSON/,
    );
    await expect(annotate({ [PATCHES]: '[{"selector":{},"patch":{},"more":1}]' })).rejects.toThrow(
      /\[0\]\.more: unknown field/,
    );
    const whole = [{ selector: {}, patch: { spec: { volumes: [{ $patch: "replace" }] } } }];
    await expect(annotate({ [PATCHES]: JSON.stringify(whole) })).rejects.toThrow(/volumes.*injected/);
    // Patches are no part of the spec: OpenKruise sees no new generation in another list of them.
    const generation = async () =>
      (await arena.client.ok<{ metadata: { generation: number } }>("GET", `${SETS}/${NAME}`)).metadata
        .generation;
    const before = await generation();
    await annotate({ [PATCHES]: cache("3Ti") });
    expect(await generation()).toBe(before);
  });

  it("ds-patches S20 DSP-913 DSP-915 DSP-921 a pod that was stored without its patches is replaced, and no other", async () => {
    await manager?.stop();
    await arena.client.request("DELETE", `${PODS}/${NAME}-n1?gracePeriodSeconds=0`);
    await gone("n1");
    await createPod(uid, "n1");
    expect(cacheOf((await pods()).get("n1"))).toBe("500Gi");
    await running();
    const before = [await uidOf("n2"), await uidOf("n3")];
    await start();
    await gone("n1");
    await createPod(uid, "n1");
    expect(cacheOf((await pods()).get("n1"))).toBe("2Ti");
    await running();
    await sleep(QUIET_MS);
    expect(cacheOf((await pods()).get("n1"))).toBe("2Ti");
    expect([await uidOf("n2"), await uidOf("n3")]).toEqual(before);
  });

  it("ds-patches S21 DSP-914 DSP-918 DSP-923 while OpenKruise rolls, is paused, or by None, pods stay", async () => {
    await running();
    const before = await uidOf("n1");
    const kept = async (): Promise<void> => {
      await sleep(QUIET_MS);
      expect(await uidOf("n1")).toBe(before);
    };
    await arena.client.ok(
      "PATCH",
      `${PODS}/${NAME}-n2`,
      { metadata: { labels: { "controller-revision-hash": "r0" } } },
      MERGE,
    );
    await annotate({ [PATCHES]: cache("3Ti") });
    await kept();
    await change({ spec: { updateStrategy: { rollingUpdate: { paused: true } } } });
    await settle();
    await arena.client.ok(
      "PATCH",
      `${PODS}/${NAME}-n2`,
      { metadata: { labels: { "controller-revision-hash": "r1" } } },
      MERGE,
    );
    await kept();
    await annotate({ "daemonset.kruise.io/patches-rollout": "None" });
    await change({ spec: { updateStrategy: { rollingUpdate: { paused: false } } } });
    await settle();
    await kept();
    await annotate({ "daemonset.kruise.io/patches-rollout": null });
    await eventually(async () => expect(await uidOf("n1")).toBeUndefined());
  });

  it("DSP-926 where nobody asks the hook a pod is replaced once and then left for a while, and that is told", async () => {
    await running();
    const { items } = await arena.client.ok<{ items: { metadata: { name: string } }[] }>("GET", HOOKS);
    for (const { metadata } of items) await arena.client.ok("DELETE", `${HOOKS}/${metadata.name}`);
    await arena.client.request("DELETE", `${PODS}/${NAME}-n1?gracePeriodSeconds=0`);
    // The API server learns of it by a watch of its own.
    await eventually(async () => {
      await arena.client.request("DELETE", `${PODS}/${NAME}-n1?gracePeriodSeconds=0`);
      expect(cacheOf(await createPod(uid, "n1"))).toBe("500Gi");
    });
    await gone("n1");
    const again = await createPod(uid, "n1");
    await running();
    await sleep(QUIET_MS);
    expect(await uidOf("n1")).toBe(again.metadata.uid);
    await eventually(async () => {
      const events = await arena.client.ok<{ items: { reason: string; note: string }[] }>(
        "GET",
        "/apis/events.k8s.io/v1/namespaces/default/events",
      );
      const told = events.items.filter(({ reason }) => reason === "PatchRolloutBlocked");
      expect(told.map(({ note }) => note).join()).toMatch(/come back without their patches \(node n1\)/);
    });
    // Registered again.
    await manager?.stop();
    await start();
  });

  it("DSP-920 with a hook before deletion the pod is marked, and OpenKruise does the rest", async () => {
    await running();
    await change({ spec: { lifecycle: { preDelete: { labelsHandler: { hold: "1" } } } } });
    await settle();
    await annotate({ [PATCHES]: cache("4Ti") });
    await eventually(async () =>
      expect((await pods()).get("n1")?.metadata.labels[STATE]).toBe("PreparingDelete"),
    );
  });

  it("DSP-917 Template has OpenKruise roll: the hash of the list goes into the template, once", async () => {
    await running();
    await annotate({ "daemonset.kruise.io/patches-rollout": "Template" });
    const hashOf = async () =>
      (
        await arena.client.ok<{ spec: { template: { metadata: { annotations?: Record<string, string> } } } }>(
          "GET",
          `${SETS}/${NAME}`,
        )
      ).spec.template.metadata.annotations?.["daemonset.kruise.io/patches-hash"];
    await eventually(async () => expect(await hashOf()).toMatch(/^[0-9a-f]{16}$/));
    const first = await hashOf();
    await annotate({ [PATCHES]: cache("5Ti") });
    await eventually(async () => expect(await hashOf()).not.toBe(first));
    expect((await pods()).size).toBe(3);
  });
});
