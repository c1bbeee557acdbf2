/** Scenarios of running the controller: rights, errors, memory, replaced sources, the legacy text. */
import { narrowed } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { nacosModule } from "../src/index.ts";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

const DIGEST = "nacos.io/config-digest";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const running = (name = "demo"): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
    return resource;
  }, 60_000);
const condition = (type: string, name = "demo") =>
  objects.get("nacos", name).then((resource) => conditionOf(resource, type));
const digestOf = async (name = "demo"): Promise<string | undefined> =>
  (await objects.get("statefulsets", name)).spec.template.metadata.annotations?.[DIGEST];
const generation = async (name = "demo"): Promise<number> =>
  (await objects.get("statefulsets", name)).metadata.generation ?? 0;
const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const reasons = async (): Promise<string[]> => (await objects.list("events")).map(({ reason }) => reason);

describe("operation", () => {
  it("NACOS-1008 NACOS-1009: the module's rights in one namespace are all that it needs there", async () => {
    const kubeconfig = await stage.kubeconfigFor([nacosModule]);
    const manager = await stage.startManager({ ...NO_CHECK, kubeconfig });
    await createBase(objects);
    await running();
    await objects.patch("configmaps", "demo-final", { data: { more: "x" } });
    await objects.delete("services", "demo-client");
    await eventually(async () => {
      expect(Object.keys((await objects.get("configmaps", "demo-final")).data ?? {})).toHaveLength(1);
      expect(await objects.find("services", "demo-client")).toBeDefined();
    });
    expect(manager.log()).not.toMatch(/forbidden/i);
  });

  it("NACOS-207 NACOS-332 NACOS-202: what may not be written is named, the rest goes on, other resources too", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    await manager.stop();
    const less = narrowed(
      nacosModule,
      (verb, resource) => !["update /configmaps", "create /services"].includes(`${verb} ${resource}`),
    );
    const kubeconfig = await stage.kubeconfigFor([less]);
    await stage.startManager({ ...NO_CHECK, kubeconfig });
    const before = await digestOf();
    await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
    await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
    await objects.delete("services", "demo-client");
    await eventually(async () => {
      expect(await condition("ConfigReady")).toMatchObject({
        reason: "FinalConfigWriteFailed",
        message: expect.stringContaining("ConfigMap demo-final"),
      });
      expect(await condition("Ready")).toMatchObject({
        status: "False",
        reason: "Forbidden",
        message: expect.stringMatching(/Service demo-client.*POST.*services/),
      });
      expect((await objects.get("statefulsets", "demo")).spec.replicas).toBe(5);
    });
    expect(await digestOf()).toBe(before);
    await objects.nacos("second", { userConfigRef: { name: "uc" } });
    await eventually(async () => expect(await digestOf("second")).toBeDefined());
  });

  it("NACOS-207 NACOS-605: a right that is missing to let claims grow is not put down to the storage class", async () => {
    const less = narrowed(
      nacosModule,
      (verb, resource) => !(verb === "patch" && resource === "/persistentvolumeclaims"),
    );
    const kubeconfig = await stage.kubeconfigFor([less]);
    await stage.startManager({ ...NO_CHECK, kubeconfig });
    const volume = { volumeClaimTemplate: { spec: {} }, persistentVolumeSize: "1Gi" };
    await objects.nacos("demo", { volume });
    await eventually(async () =>
      expect(await objects.find("persistentvolumeclaims", "db-demo-0")).toBeDefined(),
    );
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    await eventually(async () =>
      expect(await condition("Ready")).toMatchObject({
        reason: "Forbidden",
        message: expect.stringMatching(/PATCH .*persistentvolumeclaims\/db-demo-0 is forbidden; grant it/),
      }),
    );
  });

  it("NACOS-101 NACOS-105: fills in defaults in memory alone", async () => {
    await stage.startManager(NO_CHECK);
    const begin = Date.now();
    await objects.nacos("demo", { type: "cluster" });
    const { spec } = await objects.get("nacos", "demo");
    await running();
    expect((await objects.get("statefulsets", "demo")).spec.replicas).toBe(3);
    expect((await objects.get("nacos", "demo")).spec).toEqual(spec);
    const writes = (await stage.writes(begin)).filter((write) => / nacos/.test(write));
    expect(new Set(writes)).toEqual(new Set(["patch nacos/status demo"]));
  });

  it("NACOS-205: a write to the status queues nothing", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await running();
    await quiet(500);
    const before = manager.reconciles("demo");
    const path = `/apis/nacos.io/v1alpha1/namespaces/${stage.namespace}/nacos/demo/status`;
    await stage.client.ok(
      "PATCH",
      path,
      { status: { version: "9" } },
      { contentType: "application/merge-patch+json" },
    );
    await quiet(1_000);
    expect(manager.reconciles("demo")).toBe(before);
    await objects.patch("nacos", "demo", { metadata: { annotations: { a: "1" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(before));
  });

  it("NACOS-208: an error that nobody expected leaves a trace in the status and harms no other resource", async () => {
    stage.nacosFor("fine");
    await stage.startManager({
      baseUrl: ({ podName, podIP }, port) => {
        if (podName.startsWith("bad")) throw new TypeError("a fault of the program with MARK");
        return `http://${podIP}:${port}`;
      },
    });
    await objects.nacos("bad", {});
    await objects.nacos("fine", {});
    await running("fine");
    await eventually(async () => {
      const { status } = await objects.get("nacos", "bad");
      expect(status?.event?.at(-1)).toMatchObject({
        code: -1,
        status: false,
        message: expect.stringContaining("log"),
      });
      expect(JSON.stringify(status)).not.toContain("MARK");
    });
  });

  it("NACOS-116: a resource that is being deleted gets nothing more", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {}, { finalizers: ["example.org/hold"] });
    await running();
    await objects.delete("nacos", "demo");
    await objects.delete("services", "demo-client");
    await quiet(1_500);
    expect(await objects.find("services", "demo-client")).toBeUndefined();
    await objects.patch("nacos", "demo", { metadata: { finalizers: null } });
    await eventually(async () => expect(await objects.find("nacos", "demo")).toBeUndefined());
  });

  it("NACOS-1007: no watch holds the content of maps that are none of the resource's own", async () => {
    for (let at = 0; at < 30; at += 1)
      await objects.configMap(`unrelated-${at}`, { text: "x".repeat(1_000) });
    const manager = await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    // The generated one; the two that are referred to are read by themselves (CORE-245).
    expect(manager.cached("ConfigMap")).toBe(1);
    expect(manager.cached("Secret")).toBe(0);
    await objects.delete("nacos", "demo");
    await eventually(async () => expect(manager.cached("ConfigMap")).toBe(0), 90_000);
  });

  it("NACOS-339: immutable sources are replaced without a rollout for the same text, with one for another", async () => {
    await objects.create("configmaps", "uc", {
      apiVersion: "v1",
      kind: "ConfigMap",
      immutable: true,
      data: { "user.properties": "a=1\n" },
    });
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { userConfigRef: { name: "uc" } });
    await running();
    const before = await generation();
    const replace = async (text: string): Promise<void> => {
      await objects.delete("configmaps", "uc");
      await objects.create("configmaps", "uc", {
        apiVersion: "v1",
        kind: "ConfigMap",
        immutable: true,
        data: { "user.properties": text },
      });
    };
    await replace("a=1\n");
    await quiet(2_000);
    expect(await generation()).toBe(before);
    await replace("a=2\n");
    await eventually(async () => expect(await generation()).toBe(before + 1));
  });

  it("NACOS-338: an immutable generated object is replaced when its content must change, and only then", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    await objects.patch("configmaps", "demo-final", { immutable: true });
    await quiet(1_000);
    const { uid } = (await objects.get("configmaps", "demo-final")).metadata;
    const before = await generation();
    await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
    await eventually(async () => {
      const { metadata, data } = await objects.get("configmaps", "demo-final");
      expect(metadata.uid).not.toBe(uid);
      expect(data?.["application.properties"]).toContain("a=1");
      expect(await generation()).toBe(before + 1);
    });
  });

  it("NACOS-343 NACOS-347: losing one reference merges the rest, and a change in a rollout is taken up at once", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    const before = await generation();
    await objects.patch("nacos", "demo", { spec: { userConfigRef: null } });
    await eventually(async () => expect(await digestOf()).toBe("1829ad33de032944"));
    expect(await generation()).toBe(before + 1);
    await objects.patch("configmaps", "ic", { data: { "internal.properties": "server.port=8848\na=1\n" } });
    await eventually(async () => {
      expect(await digestOf()).not.toBe("1829ad33de032944");
      expect((await objects.get("configmaps", "demo-final")).data?.["application.properties"]).toContain(
        "a=1",
      );
    }, 4_000);
    expect(await generation()).toBe(before + 2);
    const resource = await running();
    expect(resource.status?.configDigest).toBe(await digestOf());
  });

  it("NACOS-361 NACOS-363 NACOS-365: the legacy text is written without a rollout, and not over somebody else's map", async () => {
    await objects.configMap("taken", { "custom.properties": "theirs" });
    await stage.startManager(NO_CHECK);
    await objects.nacos("taken", { config: "k=v" });
    await objects.nacos("demo", { config: "k=v\n# end" });
    await running();
    expect((await objects.get("configmaps", "demo")).data).toEqual({ "custom.properties": "k=v\n# end" });
    const before = await generation();
    await objects.patch("nacos", "demo", { spec: { config: "k=w" } });
    await eventually(async () => {
      expect((await objects.get("configmaps", "demo")).data).toEqual({ "custom.properties": "k=w" });
      expect(await reasons()).toContain("RestartRequired");
    });
    expect(await generation()).toBe(before);
    await eventually(async () => {
      expect(await condition("ConfigReady", "taken")).toMatchObject({ reason: "LegacyConfigConflict" });
    });
    expect((await objects.get("configmaps", "taken")).data).toEqual({ "custom.properties": "theirs" });
    expect(await objects.find("statefulsets", "taken")).toBeUndefined();
  });

  it("NACOS-918 NACOS-812: tells the life of an installation in events", async () => {
    stage.nacosFor("demo");
    await stage.startManager();
    await createBase(objects, "demo", { replicas: 1, identitySecretRef: { name: "absent" } });
    await running();
    await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
    await eventually(async () => expect(await generation()).toBe(2));
    await running();
    await objects.patch("nacos", "demo", { spec: { replicas: 3 } });
    await running();
    await eventually(async () => {
      const expected = [
        "Created",
        "ConfigMerged",
        "ConfigRollout",
        "RolloutComplete",
        "Scaling",
        "IdentityUnavailable",
        "EphemeralData",
      ];
      expect(await reasons()).toEqual(expect.arrayContaining(expected));
    });
    const events = (await objects.list("events")).filter(({ regarding }) => regarding.kind === "Nacos");
    expect(events.filter(({ reason }) => reason === "EphemeralData")).toHaveLength(1);
  });
});
