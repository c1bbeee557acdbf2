/** Scenarios of the data volumes of a StatefulSet that exists: claims that grow, and StatefulSets made anew. */
import type { JsonMap } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { recreateRecord } from "../src/desired/recreate.ts";
import { conditionOf, eventually, inPhase, type Objects, objectsOf, quiet } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";
import { createStorage } from "./support/storage.ts";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const running = (name?: string): Promise<Nacos> => inPhase(objects, "Running", name);
const ready = async (type: string, name = "demo") => conditionOf(await objects.get("nacos", name), type);

describe("volumes", () => {
  it("nacos A17 NACOS-605 NACOS-606 NACOS-610: claims grow under running pods", async () => {
    const storageClass = await createStorage(stage, objects, "demo", 3);
    await stage.startManager(NO_CHECK);
    const volume = {
      volumeClaimTemplate: { spec: { storageClassName: storageClass } },
      persistentVolumeSize: "1Gi",
    };
    await objects.nacos("demo", { type: "cluster", replicas: 3, volume });
    await running();
    const before = await objects.get("statefulsets", "demo");
    const uids = async (resource: "pods" | "persistentvolumeclaims") =>
      (await objects.list(resource)).map(({ metadata }) => metadata.uid).sort();
    const [pods, claims] = [await uids("pods"), await uids("persistentvolumeclaims")];
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    const after = await eventually(async () => {
      const again = await objects.get("statefulsets", "demo");
      expect(again.metadata.uid).not.toBe(before.metadata.uid);
      expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
      return again;
    }, 60_000);
    expect(after.spec.template).toEqual(before.spec.template);
    const sizes = (spec: JsonMap) => (spec.resources as { requests: { storage: string } }).requests.storage;
    expect(after.spec.volumeClaimTemplates?.map(({ spec }) => sizes(spec))).toEqual(["2Gi"]);
    const grown = (await objects.list("persistentvolumeclaims")).map(({ spec }) => sizes(spec));
    expect(grown).toEqual(["2Gi", "2Gi", "2Gi"]);
    await running();
    await quiet(1_500);
    expect(await uids("pods")).toEqual(pods);
    expect(await uids("persistentvolumeclaims")).toEqual(claims);
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "1Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeShrinkRefused" }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(after.metadata.uid);
  }, 120_000);

  it("nacos A17 NACOS-607: a StatefulSet that was deleted and not yet made anew is made by its record", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    await running();
    await manager.stop();
    const resource = await objects.get("nacos", "demo");
    const before = await objects.get("statefulsets", "demo");
    const pods = async () => (await objects.list("pods")).map(({ metadata }) => metadata.uid).sort();
    const uids = await pods();
    const annotations = { ...before.metadata.annotations, recorded: "yes" };
    const record = recreateRecord(resource, { ...before, metadata: { ...before.metadata, annotations } }, []);
    await objects.create("controllerrevisions", "demo-sts-recreate", { ...record });
    await objects.delete("statefulsets", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("statefulsets", "demo")).toBeUndefined(), 60_000);
    await objects.patch("nacos", "demo", { spec: { image: "" } });
    await stage.startManager(NO_CHECK);
    await eventually(async () => {
      const { metadata, spec } = await objects.get("statefulsets", "demo");
      expect(metadata.annotations).toMatchObject({ recorded: "yes" });
      expect(spec.template).toEqual(before.spec.template);
      expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
    });
    await quiet(1_000);
    expect(await pods()).toEqual(uids);
  });

  it("NACOS-607 NACOS-611: what a tenant can write makes no StatefulSet, here or elsewhere", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {}, { annotations: { "nacos.io/paused": "true" } });
    const resource = await objects.get("nacos", "demo");
    const spec = {
      selector: { matchLabels: { app: "evil" } },
      template: {
        metadata: { labels: { app: "evil" } },
        spec: { containers: [{ name: "evil", image: "evil:1", securityContext: { privileged: true } }] },
      },
    };
    const evil = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "evil", namespace: "kube-system", labels: { app: "evil" } },
      spec,
    };
    const ours = { app: "demo", component: "nacos", middleware: "nacos", "nacos.io/record": "recreate" };
    const { name, uid } = resource.metadata;
    const owner = {
      apiVersion: "nacos.io/v1alpha1",
      kind: "Nacos",
      name: name!,
      uid: uid!,
      controller: true,
    };
    for (const kind of ["Secret", "ConfigMap"]) {
      const text = (value: object) =>
        kind === "Secret" ? Buffer.from(JSON.stringify(value)).toString("base64") : JSON.stringify(value);
      await objects.create(kind === "Secret" ? "secrets" : "configmaps", "demo-sts-recreate", {
        apiVersion: "v1",
        kind,
        metadata: { labels: ours, ownerReferences: [owner] },
        data: { "statefulset.json": text(evil), spec: text(spec) },
      });
    }
    await eventually(async () => expect(await ready("Progressing")).toMatchObject({ reason: "Paused" }));
    await quiet(1_500);
    expect(await objects.list("statefulsets")).toEqual([]);
    const path = "/apis/apps/v1/namespaces/kube-system/statefulsets/evil";
    expect((await stage.client.request("GET", path)).code).toBe(404);

    // Nor does the record itself say anything about the identity of what is made of it.
    const record = { apiVersion: "apps/v1", kind: "ControllerRevision", revision: 1 };
    await objects.create("controllerrevisions", "demo-sts-recreate", {
      ...record,
      metadata: { labels: ours, ownerReferences: [owner] },
      data: { ...evil, labels: { app: "evil" }, ownerReferences: [{ ...owner, name: "evil" }] },
    });
    const made = await eventually(() => objects.get("statefulsets", "demo"));
    expect(made.metadata).toMatchObject({ labels: { app: "demo" }, ownerReferences: [{ name, uid }] });
    expect((await objects.list("statefulsets")).map(({ metadata }) => metadata.name)).toEqual(["demo"]);
    expect((await stage.client.request("GET", path)).code).toBe(404);
    await manager.stop();
  });

  it("NACOS-605: claims that cannot grow leave the StatefulSet as it is", async () => {
    const storageClass = await createStorage(stage, objects, "demo", 1, false);
    await stage.startManager(NO_CHECK);
    const volume = {
      volumeClaimTemplate: { spec: { storageClassName: storageClass } },
      persistentVolumeSize: "1Gi",
    };
    await objects.nacos("demo", { volume });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({
        reason: "VolumeResizeRefused",
        message: expect.stringContaining("the storage class does not let claims grow"),
      }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
    expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
  });

  it("NACOS-605: a claim that has no volume yet is told from one that can never grow", async () => {
    const storageClassName = await createStorage(stage, objects, "demo", 0);
    await stage.startManager(NO_CHECK);
    const volume = { volumeClaimTemplate: { spec: { storageClassName } }, persistentVolumeSize: "1Gi" };
    await objects.nacos("demo", { volume });
    await eventually(async () =>
      expect(await objects.find("persistentvolumeclaims", "db-demo-0")).toBeDefined(),
    );
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({
        reason: "VolumeResizeRefused",
        message: expect.stringContaining("before it is bound"),
      }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
  });

  it("NACOS-609: other volumes replace those of a StatefulSet for the generation that allows them", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { volume: { emptyDir: {} } });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", {
      spec: { volume: { emptyDir: null, hostPath: { path: "/data" } } },
    });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeChangeUnsupported" }),
    );
    const generationNow = (await objects.get("nacos", "demo")).metadata.generation;
    await objects.patch("nacos", "demo", {
      metadata: { annotations: { "nacos.io/allow-volume-recreate": String(generationNow) } },
    });
    await eventually(async () => {
      const { metadata: again, spec } = await objects.get("statefulsets", "demo");
      expect(again.uid).not.toBe(metadata.uid);
      expect(spec.template.spec.volumes).toEqual([
        { name: "db", hostPath: expect.objectContaining({ path: "/data" }) },
      ]);
    }, 60_000);
    await running();
  });

  it("NACOS-606 NACOS-609: a StatefulSet that the server would not take back is not deleted", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { volume: { emptyDir: {} } });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", {
      spec: {
        volume: { emptyDir: null, hostPath: { path: "/data" } },
        k8sWrapper: { PodSpec: { restartPolicy: "Sometimes" } },
      },
    });
    const now = (await objects.get("nacos", "demo")).metadata.generation;
    await objects.patch("nacos", "demo", {
      metadata: { annotations: { "nacos.io/allow-volume-recreate": String(now) } },
    });
    await eventually(async () => {
      const { message, ...condition } = await ready("SpecValid");
      expect(condition).toMatchObject({ status: "False", reason: "PodSpecRejected" });
      expect(message).toContain("restartPolicy");
    });
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
    expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
    await objects.patch("nacos", "demo", {
      spec: { volume: { emptyDir: {}, hostPath: null }, k8sWrapper: null },
    });
    await eventually(async () => expect(await ready("SpecValid")).toMatchObject({ status: "True" }));
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
  });

  it("NACOS-608 NACOS-609: refuses volumes that the StatefulSet cannot get, and changes nothing", async () => {
    await stage.startManager(NO_CHECK);
    const volume = { volumeClaimTemplate: { spec: {} }, persistentVolumeSize: "2Gi" };
    await objects.nacos("demo", { volume });
    await eventually(async () => expect(await objects.find("statefulsets", "demo")).toBeDefined());
    const before = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "1Gi" }, image: "x:1" } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeShrinkRefused" }),
    );
    await objects.patch("nacos", "demo", { spec: { volume: { volumeClaimTemplate: null, emptyDir: {} } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeChangeUnsupported" }),
    );
    const after = await objects.get("statefulsets", "demo");
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });
});
