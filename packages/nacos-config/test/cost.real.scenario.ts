/** What the controller costs the API server: requests, leases and watches left out. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { openStage, type Stage } from "./support/stage.ts";

/** Requests for one cluster: half, a fifth and a third of the least that the Go operator was seen to need. */
const LIMITS = { create: 14, edit: 12, scale: 8 } as const;

let stage: Stage;
let objects: Objects;
/** Pods by name and revision of their template. */
let podsSeen: Set<string>;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
  podsSeen = new Set();
});
afterEach(() => stage.close());

/** Resolves when the cluster has so many nodes, all of the newest template, and its status says that it is at rest. */
async function settled(nodes: number, digest?: string): Promise<void> {
  await eventually(async () => {
    for (const { metadata } of await objects.list("pods"))
      podsSeen.add(`${metadata.name} ${metadata.labels?.["controller-revision-hash"]}`);
    const resource = await objects.get("nacos", "demo");
    expect(resource.status).toMatchObject({ phase: "Running", readyReplicas: nodes, replicas: nodes });
    expect(conditionOf(resource, "Progressing")).toMatchObject({
      status: "False",
      reason: "RolloutComplete",
    });
    if (digest !== undefined) expect(resource.status?.configDigest).not.toBe(digest);
  }, 240_000);
}

/** Waits until all pods are older than minReadySeconds: younger ones would be replaced at once, not one by one. */
const available = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 12_000));

describe("cost", () => {
  it("NACOS-470 NACOS-401 NACOS-920: a cluster of three, an edit that rolls it, and two more nodes stay within their requests", async () => {
    stage.nacosFor("demo");
    await stage.startManager();
    const begin = Date.now();
    await createBase(objects);
    await settled(3);
    const created = await stage.cost(begin);

    await available();
    const { configDigest } = (await objects.get("nacos", "demo")).status ?? {};
    const edit = Date.now();
    await objects.patch("configmaps", "uc", {
      data: { "user.properties": "nacos.console.ui.enabled=false\n" },
    });
    await settled(3, configDigest);
    const edited = await stage.cost(edit);

    await available();
    const scale = Date.now();
    await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
    await settled(5);
    const scaled = await stage.cost(scale);
    // Three, three for the edit, two new ones, and three for the longer list of members: each is replaced once. The
    // controller may not delete pods, so a restart of its making is a new template; one that somebody else replaces by
    // the same template, as was seen once on a busy machine, is none of it.
    expect(podsSeen.size, [...podsSeen].sort().join("\n")).toBe(11);
    expect(created.length, created.join("\n")).toBeLessThanOrEqual(LIMITS.create);
    expect(edited.length, edited.join("\n")).toBeLessThanOrEqual(LIMITS.edit);
    expect(scaled.length, scaled.join("\n")).toBeLessThanOrEqual(LIMITS.scale);
  }, 400_000);
});
