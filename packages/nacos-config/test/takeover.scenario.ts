/** Scenarios of what is there before the resource: nodes of the peer, of a former resource, of somebody else. */
import type { JsonMap } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { peerAdoptions } from "../src/fixtures.testkit.ts";
import {
  conditionOf,
  createBase,
  eventually,
  inPhase,
  type Objects,
  objectsOf,
  quiet,
} from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const running = (name?: string): Promise<Nacos> => inPhase(objects, "Running", name);
const ready = async (type: string, name = "demo") => conditionOf(await objects.get("nacos", name), type);
const generation = async (name = "demo"): Promise<number> =>
  (await objects.get("statefulsets", name)).metadata.generation ?? 0;

describe("take-over", () => {
  it("NACOS-115 NACOS-1005: nodes that an orphaning deletion left are adopted as they are, and not as another type", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const before = await objects.get("statefulsets", "demo");
    await objects.delete("nacos", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("nacos", "demo")).toBeUndefined(), 120_000);
    const refs = { userConfigRef: { name: "uc" }, internalConfigRef: { name: "ic" } };
    await objects.nacos("demo", { ...refs, type: "standalone", finalConfigName: "demo-final" });
    await eventually(async () =>
      expect(await ready("SpecValid")).toMatchObject({ status: "False", reason: "TypeImmutable" }),
    );
    expect((await objects.get("statefulsets", "demo")).spec).toEqual(before.spec);
    await objects.patch("nacos", "demo", { spec: { type: "cluster", replicas: 3 } });
    await running();
    const { metadata, spec } = await objects.get("statefulsets", "demo");
    const { uid } = (await objects.get("nacos", "demo")).metadata;
    expect(metadata.ownerReferences).toEqual([expect.objectContaining({ uid, controller: true })]);
    expect(spec).toEqual(before.spec);
  }, 300_000);

  it("NACOS-1005 NACOS-805: what an orphaning deletion left goes with the next resource of the name, the signing key too", async () => {
    await stage.startManager(NO_CHECK);
    const spec = { config: "a=1\n", certification: { enabled: true } };
    await objects.nacos("demo", spec);
    await running();
    const children = async () => [
      ...(await objects.list("statefulsets")),
      ...(await objects.list("services")),
      await objects.get("configmaps", "demo"),
      await objects.get("secrets", "demo-nacos-auth"),
    ];
    const before = await children();
    await objects.delete("nacos", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("nacos", "demo")).toBeUndefined(), 120_000);
    for (const { metadata } of await children()) expect(metadata).not.toHaveProperty("ownerReferences");
    await objects.nacos("demo", spec);
    await running();
    const { uid } = (await objects.get("nacos", "demo")).metadata;
    await eventually(async () => {
      for (const { kind, metadata } of await children()) {
        expect(metadata.ownerReferences, `${kind} ${metadata.name}`).toEqual([
          expect.objectContaining({ uid, controller: true }),
        ]);
      }
    });
    const after = await children();
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
    expect(after.at(-1)).toHaveProperty("data", (before.at(-1) as unknown as JsonMap).data);
    expect(await generation()).toBe(1);
  }, 300_000);

  it("NACOS-413 NACOS-509: leaves a StatefulSet and a Service of somebody else alone, and adopts on request", async () => {
    const template = {
      metadata: { labels: { app: "theirs" } },
      spec: { containers: [{ name: "demo", image: "theirs:1" }] },
    };
    await objects.create("statefulsets", "demo", {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      spec: { replicas: 1, serviceName: "", selector: { matchLabels: { app: "theirs" } }, template },
    });
    await objects.create("services", "demo-client", {
      apiVersion: "v1",
      kind: "Service",
      spec: { ports: [{ port: 1 }], selector: { app: "theirs" } },
    });
    const before = (await objects.get("services", "demo-client")).metadata.resourceVersion;
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await eventually(async () => {
      expect(await ready("Ready")).toMatchObject({
        status: "False",
        reason: "ResourceConflict",
        message: expect.stringContaining("StatefulSet demo"),
      });
    });
    expect((await objects.get("statefulsets", "demo")).metadata).not.toHaveProperty("ownerReferences");
    expect((await objects.get("services", "demo-client")).metadata.resourceVersion).toBe(before);
    await objects.patch("nacos", "demo", { metadata: { annotations: { "nacos.io/adopt": "true" } } });
    await running();
    const { metadata, spec } = await objects.get("statefulsets", "demo");
    expect(metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
    expect(spec.template.spec.containers[0]?.image).toBe("theirs:1");
    expect((await objects.get("services", "demo-client")).spec.selector).toEqual({ app: "theirs" });
  });

  it("NACOS-213: writes nothing while the peer operator renews its Lease, and takes over when it stops", async () => {
    const lease = (second: number): JsonMap => ({
      spec: {
        holderIdentity: "peer",
        leaseDurationSeconds: 3,
        renewTime: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`,
      },
    });
    await objects.create("leases", "219866ca.nacos.io", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      ...lease(0),
    });
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await eventually(async () => {
      expect(await ready("Ready")).toMatchObject({ status: "Unknown", reason: "PeerOperatorActive" });
    });
    for (let second = 1; second < 4; second += 1) {
      await objects.patch("leases", "219866ca.nacos.io", lease(second));
      await quiet(1_000);
    }
    expect((await objects.get("nacos", "demo")).status?.phase ?? "").toBe("");
    expect(await objects.list("statefulsets")).toEqual([]);
    await running();
  });

  it.each(peerAdoptions())(
    "nacos A19 NACOS-414 NACOS-506: adopts what the peer made without rolling it: $name",
    async (row) => {
      const { resource, sources, statefulSet, otherChildren } = structuredClone(row);
      const name = resource.metadata.name!;
      const create = async (path: string, object: JsonMap, owner?: string): Promise<Nacos> => {
        const text = JSON.stringify(object).replaceAll('"UID"', JSON.stringify(owner ?? "UID"));
        const body = JSON.parse(
          text.replaceAll('"namespace":"t"', `"namespace":"${stage.namespace}"`),
        ) as JsonMap;
        return stage.client.ok("POST", `${path}/namespaces/${stage.namespace}/${plural(object)}`, body);
      };
      for (const source of sources) await create("/api/v1", source as unknown as JsonMap);
      const { status: _status, ...bare } = resource;
      const created = await create("/apis/nacos.io/v1alpha1", bare as unknown as JsonMap);
      const path = `/apis/nacos.io/v1alpha1/namespaces/${stage.namespace}/nacos/${name}/status`;
      const status = { phase: "Running", healthy: true };
      await stage.client.ok("PATCH", path, { status }, { contentType: "application/merge-patch+json" });
      const owner = created.metadata.uid!;
      await create("/apis/apps/v1", statefulSet as unknown as JsonMap, owner);
      for (const child of otherChildren) {
        if (child.kind === "Pod") continue;
        const job = child.kind === "Job";
        await create(job ? "/apis/batch/v1" : "/api/v1", job ? unsubmitted(child) : child, owner);
      }
      const settled = async () => {
        const live = await objects.get("statefulsets", name);
        expect(live.status?.updateRevision).toBeDefined();
        return live;
      };
      const before = await eventually(settled, 60_000);
      const client = await objects.get("services", `${name}-client`);
      const since = Date.now();
      await stage.startManager(NO_CHECK);
      await eventually(async () => {
        const { metadata } = await objects.get("statefulsets", name);
        expect(metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
      });
      await quiet(2_000);
      const after = await objects.get("statefulsets", name);
      expect(after.spec).toEqual(before.spec);
      expect(after.status?.updateRevision).toBe(before.status?.updateRevision);
      expect((await objects.get("services", `${name}-client`)).spec).toEqual(client.spec);
      const writes = await stage.writes(since);
      expect(writes.filter((write) => /^(create|delete)/.test(write))).toEqual([]);
    },
  );
});

/** A recorded Job without what the API server had added and accepts from nobody. */
function unsubmitted(job: JsonMap): JsonMap {
  const { selector: _selector, template, ...spec } = job.spec as JsonMap & { template: JsonMap };
  return { ...job, spec: { ...spec, template: { ...template, metadata: {} } } };
}

function plural(object: JsonMap): string {
  const kind = String(object.kind).toLowerCase();
  return kind === "nacos" ? kind : `${kind}s`;
}
