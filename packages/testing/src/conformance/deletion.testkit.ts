/** Deletion, finalizers, the garbage collector, namespaces. */
import { expect } from "vitest";
import { configMap, pod, statefulSet, WIDGETS, widget } from "./fixtures.testkit.ts";
import {
  type ConformanceCase,
  JSON_PATCH,
  MERGE,
  type Obj,
  type Scene,
  type Watch,
} from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
/** Watch of one ConfigMap: a full cluster adds its own to each new namespace, at a moment of its choice. */
const watchMap = (scene: Scene, { metadata }: Obj): Watch =>
  scene.watch(
    maps(scene),
    `&fieldSelector=metadata.name%3D${metadata.name}&resourceVersion=${metadata.resourceVersion}`,
  );
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const pods = (scene: Scene, name?: string): string => scene.at("v1", "pods", name);
const KEEP = "quartet.io/keep";

const gone = (scene: Scene, path: string): Promise<true> =>
  scene.eventually(async () => ((await scene.client.request("GET", path)).code === 404 ? true : undefined));

const owned = (owner: Obj, more: object = {}): object => ({
  ownerReferences: [
    { apiVersion: "v1", kind: "ConfigMap", name: owner.metadata.name, uid: owner.metadata.uid, ...more },
  ],
});

/** An object stays for at least so long. */
async function stays(scene: Scene, path: string, ms = 1200): Promise<Obj> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return await scene.get(path);
}

/** The garbage collector has to know its kinds first: wait until it collects something. */
async function collectorRuns(scene: Scene): Promise<void> {
  const owner = await scene.create(maps(scene), configMap("gc-probe"));
  await scene.create(maps(scene), configMap("gc-probe-child", {}, owned(owner)));
  await scene.remove(maps(scene, "gc-probe"), { propagationPolicy: "Background" });
  await gone(scene, maps(scene, "gc-probe-child"));
}

export const DELETION_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-465 deleting an object without finalizers answers with a Status and removes it",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const answer = await scene.remove(maps(scene, "a"));
      expect(answer).toMatchObject({
        kind: "Status",
        status: "Success",
        details: { name: "a", kind: "configmaps", uid: object.metadata.uid },
      });
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-465 deleting what is missing is NotFound",
    async run(scene) {
      const refusal = await scene.refused("DELETE", maps(scene, "a"), undefined, 404);
      expect(refusal).toMatchObject({ reason: "NotFound", details: { name: "a", kind: "configmaps" } });
    },
  },
  {
    name: "CORE-465 the DELETED event carries a new resource version",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const watch = watchMap(scene, object);
      await scene.remove(maps(scene, "a"));
      const event = await watch.next();
      expect(event.type).toBe("DELETED");
      expect(event.object.data).toEqual({ a: "1" });
      expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(
        Number(object.metadata.resourceVersion),
      );
    },
  },
  {
    name: "CORE-465 with finalizers the object stays, marked, with generation + 1",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", {}, { finalizers: [KEEP] }));
      const answer = await scene.remove(widgets(scene, "a"));
      expect(answer).toMatchObject({
        kind: "Widget",
        metadata: { name: "a", generation: 2, deletionGracePeriodSeconds: 0 },
      });
      const marked = await scene.get(widgets(scene, "a"));
      expect(marked.metadata.deletionTimestamp).toMatch(/^\d{4}-.*Z$/);
      await scene.merge(widgets(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-465 a second delete of a marked object changes nothing",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      await scene.remove(maps(scene, "a"));
      const first = await scene.get(maps(scene, "a"));
      await scene.remove(maps(scene, "a"));
      expect(await scene.get(maps(scene, "a"))).toEqual(first);
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-465 removing the last finalizer removes the object",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP, "quartet.io/other"] }));
      const marked = await scene.remove(maps(scene, "a"));
      const watch = watchMap(scene, marked);
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: ["quartet.io/other"] } });
      expect((await watch.next()).type).toBe("MODIFIED");
      const last = await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
      expect(last.kind).toBe("ConfigMap");
      expect((await watch.next()).type).toBe("DELETED");
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-465 an object that is being deleted takes no new finalizer",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", {}, { finalizers: [KEEP] }));
      await scene.remove(widgets(scene, "a"));
      const patch = { metadata: { finalizers: [KEEP, "quartet.io/new"] } };
      const refusal = await scene.refused("PATCH", widgets(scene, "a"), patch, 422, MERGE);
      expect(refusal.details?.causes?.[0]).toMatchObject({
        reason: "FieldValueForbidden",
        field: "metadata.finalizers",
        message: expect.stringContaining("no new finalizers can be added if the object is being deleted"),
      });
      await scene.merge(widgets(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-465 an object that is being deleted can still be changed",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      await scene.remove(maps(scene, "a"));
      const changed = await scene.merge(maps(scene, "a"), { data: { b: "2" } });
      expect(changed.data).toEqual({ b: "2" });
      expect(changed.metadata.deletionTimestamp).toBeDefined();
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-465 an update cannot take a deletion back",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      const marked = await scene.remove(maps(scene, "a"));
      const { deletionTimestamp: _time, ...metadata } = marked.metadata;
      const put = await scene.put(maps(scene, "a"), { ...marked, metadata });
      expect(put.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-465 preconditions: another uid is a conflict",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const refusal = await scene.refused(
        "DELETE",
        maps(scene, "a"),
        { preconditions: { uid: "other" } },
        409,
      );
      expect(refusal.reason).toBe("Conflict");
      expect(refusal.message).toContain(
        'on ConfigMap "a": the UID in the precondition (other) does not match the UID in record',
      );
      await scene.remove(maps(scene, "a"), { preconditions: { uid: object.metadata.uid } });
    },
  },
  {
    name: "CORE-465 preconditions: another resource version is a conflict",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      await scene.merge(maps(scene, "a"), { data: { b: "2" } });
      const { resourceVersion } = object.metadata;
      const refusal = await scene.refused(
        "DELETE",
        maps(scene, "a"),
        { preconditions: { resourceVersion } },
        409,
      );
      expect(refusal.message).toContain("the ResourceVersion in the precondition");
    },
  },
  {
    name: "CORE-465 a pod without a node goes at once",
    async run(scene) {
      await scene.create(pods(scene), pod("a"));
      const answer = await scene.remove(pods(scene, "a"));
      expect(answer.kind).toBe("Pod");
      await scene.refused("GET", pods(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-465 a pod on a node gets its grace period",
    async run(scene) {
      await scene.create(
        pods(scene),
        pod("a", { nodeName: "no-such-node", terminationGracePeriodSeconds: 20 }),
      );
      const before = Date.now();
      const marked = await scene.remove(pods(scene, "a"));
      expect(marked.metadata.deletionGracePeriodSeconds).toBe(20);
      const end = Date.parse(marked.metadata.deletionTimestamp!);
      expect(end - before).toBeGreaterThan(17_000);
      expect(end - before).toBeLessThan(23_000);
      const shorter = await scene.remove(pods(scene, "a"), { gracePeriodSeconds: 5 });
      expect(shorter.metadata.deletionGracePeriodSeconds).toBe(5);
      await scene.remove(pods(scene, "a"), { gracePeriodSeconds: 0 });
      await scene.refused("GET", pods(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-465 deletecollection removes what the selector chooses",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { labels: { x: "1" } }));
      await scene.create(maps(scene), configMap("b", {}, { labels: { x: "2" } }));
      await scene.create(maps(scene), configMap("c", {}, { labels: { x: "1" } }));
      await scene.client.ok("DELETE", `${maps(scene)}?labelSelector=x%3D1`);
      const left = (await scene.list(`${maps(scene)}?labelSelector=x`)).items.map(
        ({ metadata }) => metadata.name,
      );
      expect(left).toEqual(["b"]);
    },
  },
  {
    name: "CORE-465 delete options may come as query parameters",
    async run(scene) {
      await scene.create(pods(scene), pod("a", { nodeName: "no-such-node" }));
      await scene.client.ok("DELETE", `${pods(scene, "a")}?gracePeriodSeconds=0`);
      await scene.refused("GET", pods(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-465 an unknown propagation policy is refused",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.refused("DELETE", maps(scene, "a"), { propagationPolicy: "Sideways" }, 422);
    },
  },
  {
    name: "CORE-466 background: the owner goes first, dependents follow",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create(maps(scene), configMap("owner"));
      await scene.create(maps(scene), configMap("child", {}, owned(owner)));
      await scene.remove(maps(scene, "owner"), { propagationPolicy: "Background" });
      await scene.refused("GET", maps(scene, "owner"), undefined, 404);
      await gone(scene, maps(scene, "child"));
    },
  },
  {
    name: "CORE-466 foreground: the owner waits for the dependents that block it",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create(maps(scene), configMap("owner"));
      const metadata = { ...owned(owner, { blockOwnerDeletion: true }), finalizers: [KEEP] };
      await scene.create(maps(scene), configMap("child", {}, metadata));
      const marked = await scene.remove(maps(scene, "owner"), { propagationPolicy: "Foreground" });
      expect(marked.metadata.finalizers).toEqual(["foregroundDeletion"]);
      await scene.eventually(async () =>
        (await scene.get(maps(scene, "child"))).metadata.deletionTimestamp === undefined ? undefined : true,
      );
      expect((await stays(scene, maps(scene, "owner"))).metadata.finalizers).toEqual(["foregroundDeletion"]);
      await scene.merge(maps(scene, "child"), { metadata: { finalizers: null } });
      await gone(scene, maps(scene, "child"));
      await gone(scene, maps(scene, "owner"));
    },
  },
  {
    name: "CORE-466 orphan: dependents stay and lose the reference",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create(maps(scene), configMap("owner"));
      await scene.create(maps(scene), configMap("child", {}, owned(owner)));
      await scene.remove(maps(scene, "owner"), { propagationPolicy: "Orphan" });
      await gone(scene, maps(scene, "owner"));
      const child = await stays(scene, maps(scene, "child"));
      expect(child.metadata.ownerReferences).toBeUndefined();
    },
  },
  {
    name: "CORE-466 an owner that does not exist: the dependent is removed",
    async run(scene) {
      await collectorRuns(scene);
      const owner = { metadata: { name: "nobody", uid: "11111111-2222-4333-8444-555555555555" } } as Obj;
      await scene.create(maps(scene), configMap("child", {}, owned(owner)));
      await gone(scene, maps(scene, "child"));
    },
  },
  {
    name: "CORE-466 an owner of the same name with another uid does not count",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create(maps(scene), configMap("owner"));
      const old = { metadata: { ...owner.metadata, uid: "11111111-2222-4333-8444-555555555555" } };
      await scene.create(maps(scene), configMap("child", {}, owned(old as Obj)));
      await gone(scene, maps(scene, "child"));
      await scene.get(maps(scene, "owner"));
    },
  },
  {
    name: "CORE-466 an owner in another namespace does not count",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create("/api/v1/namespaces/default/configmaps", configMap(scene.id));
      await scene.create(maps(scene), configMap("child", {}, owned(owner)));
      await gone(scene, maps(scene, "child"));
      await scene.remove(`/api/v1/namespaces/default/configmaps/${scene.id}`);
    },
  },
  {
    name: "CORE-466 one of two owners keeps the dependent, the reference to the gone one is dropped",
    async run(scene) {
      await collectorRuns(scene);
      const first = await scene.create(maps(scene), configMap("first"));
      const second = await scene.create(maps(scene), configMap("second"));
      const reference = ({ metadata }: Obj): object => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        name: metadata.name,
        uid: metadata.uid,
      });
      const metadata = { ownerReferences: [reference(first), reference(second)] };
      await scene.create(maps(scene), configMap("child", {}, metadata));
      await scene.remove(maps(scene, "first"), { propagationPolicy: "Background" });
      const child = await scene.eventually(async () => {
        const found = await scene.get(maps(scene, "child"));
        return found.metadata.ownerReferences?.length === 1 ? found : undefined;
      });
      expect(child.metadata.ownerReferences).toMatchObject([{ name: "second" }]);
    },
  },
  {
    name: "CORE-466 dependents with finalizers are marked and wait",
    async run(scene) {
      await collectorRuns(scene);
      const owner = await scene.create(maps(scene), configMap("owner"));
      await scene.create(maps(scene), configMap("child", {}, { ...owned(owner), finalizers: [KEEP] }));
      await scene.remove(maps(scene, "owner"), { propagationPolicy: "Background" });
      await scene.eventually(async () =>
        (await scene.get(maps(scene, "child"))).metadata.deletionTimestamp === undefined ? undefined : true,
      );
      await scene.merge(maps(scene, "child"), { metadata: { finalizers: null } });
      await gone(scene, maps(scene, "child"));
    },
  },
  {
    name: "CORE-473 nothing can be created in a missing namespace",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        "/api/v1/namespaces/no-such/configmaps",
        configMap("a"),
        404,
      );
      expect(refusal).toMatchObject({
        reason: "NotFound",
        message: 'namespaces "no-such" not found',
        details: { name: "no-such", kind: "namespaces" },
      });
    },
  },
  {
    name: "CORE-473 nothing can be created in a namespace that is being deleted",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      await scene.remove(`/api/v1/namespaces/${scene.ns}`);
      const refusal = await scene.refused("POST", maps(scene), configMap("b"), 403);
      expect(refusal).toMatchObject({
        reason: "Forbidden",
        message: expect.stringContaining(
          `unable to create new content in namespace ${scene.ns} because it is being terminated`,
        ),
        details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
      });
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-473 objects of a namespace that is being deleted can still be changed",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      await scene.remove(`/api/v1/namespaces/${scene.ns}`);
      expect((await scene.merge(maps(scene, "a"), { data: { b: "2" } })).data).toEqual({ b: "2" });
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-473 deleting a namespace empties it and then removes it",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.create(widgets(scene), widget("w"));
      await scene.create(scene.at("apps/v1", "statefulsets"), statefulSet("s"));
      const marked = await scene.remove(`/api/v1/namespaces/${scene.ns}`);
      expect(marked).toMatchObject({ kind: "Namespace", status: { phase: "Terminating" } });
      await gone(scene, `/api/v1/namespaces/${scene.ns}`);
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
      await scene.refused("GET", widgets(scene, "w"), undefined, 404);
    },
  },
  {
    name: "CORE-473 a namespace waits for the finalizers of its objects",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: [KEEP] }));
      await scene.remove(`/api/v1/namespaces/${scene.ns}`);
      await scene.eventually(async () =>
        (await scene.get(maps(scene, "a"))).metadata.deletionTimestamp === undefined ? undefined : true,
      );
      await stays(scene, `/api/v1/namespaces/${scene.ns}`, 400);
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
      await gone(scene, `/api/v1/namespaces/${scene.ns}`);
    },
  },
  {
    name: "CORE-473 default and kube-system exist and default cannot be deleted",
    async run(scene) {
      expect((await scene.get("/api/v1/namespaces/kube-system")).status).toMatchObject({ phase: "Active" });
      const refusal = await scene.refused("DELETE", "/api/v1/namespaces/default", undefined, 403);
      expect(refusal.message).toContain("this namespace may not be deleted");
    },
  },
  {
    name: "CORE-473 a namespace is labelled with its name",
    async run(scene) {
      const namespace = await scene.get(`/api/v1/namespaces/${scene.ns}`);
      expect(namespace.metadata.labels?.["kubernetes.io/metadata.name"]).toBe(scene.ns);
      expect(namespace.spec).toEqual({ finalizers: ["kubernetes"] });
    },
  },
  {
    name: "CORE-306 a guarded JSON patch removes exactly one finalizer",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", {}, { finalizers: [KEEP, "quartet.io/other"] }));
      const patch = [
        { op: "test", path: "/metadata/finalizers/0", value: KEEP },
        { op: "remove", path: "/metadata/finalizers/0" },
      ];
      const changed = await scene.client.ok<Obj>("PATCH", widgets(scene, "a"), patch, {
        contentType: JSON_PATCH,
      });
      expect(changed.metadata.finalizers).toEqual(["quartet.io/other"]);
      await scene.refused("PATCH", widgets(scene, "a"), patch, 422, JSON_PATCH);
      await scene.merge(widgets(scene, "a"), { metadata: { finalizers: null } });
    },
  },
];
