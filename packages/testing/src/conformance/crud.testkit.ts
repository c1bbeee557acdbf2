/** Reading and writing single objects: versions, identity, names, sizes. */
import { expect } from "vitest";
import {
  configMap,
  container,
  plain,
  pod,
  service,
  statefulSet,
  WIDGETS,
  widget,
} from "./fixtures.testkit.ts";
import type { ConformanceCase, Obj, Scene } from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const leases = (scene: Scene, name?: string): string => scene.at("coordination.k8s.io/v1", "leases", name);
const lease = (name: string, spec: object = {}): object => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name },
  spec,
});

export const CRUD_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-460 resource versions are numbers without leading zero that rise with every write",
    async run(scene) {
      const first = await scene.create(maps(scene), configMap("a"));
      const second = await scene.create(scene.at("v1", "secrets"), { metadata: { name: "s" } });
      const third = await scene.merge(maps(scene, "a"), { data: { a: "2" } });
      const versions = [first, second, third].map(({ metadata }) => metadata.resourceVersion);
      for (const version of versions) expect(version).toMatch(/^[1-9]\d*$/);
      expect(Number(versions[1])).toBeGreaterThan(Number(versions[0]));
      expect(Number(versions[2])).toBeGreaterThan(Number(versions[1]));
    },
  },
  {
    name: "CORE-460 a list's resource version is the current one",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const list = await scene.list(maps(scene));
      expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(object.metadata.resourceVersion),
      );
      const other = await scene.create(scene.at("v1", "secrets"), { metadata: { name: "s" } });
      const again = await scene.list(maps(scene));
      expect(Number(again.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(other.metadata.resourceVersion),
      );
    },
  },
  {
    name: "CORE-460 uid, creation time and generation of a new object are the server's, whatever the client sends",
    async run(scene) {
      const sent = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 };
      const object = await scene.create(widgets(scene), widget("a", {}, sent));
      expect(object.metadata.uid).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(Date.now() - Date.parse(object.metadata.creationTimestamp)).toBeLessThan(60_000);
      expect(object.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(object.metadata.generation).toBe(1);
    },
  },
  {
    name: "CORE-460 an update keeps creation time and generation that the client alters",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      const metadata = { ...object.metadata, creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 };
      const updated = await scene.put(widgets(scene, "a"), { ...object, metadata });
      expect(updated.metadata.creationTimestamp).toBe(object.metadata.creationTimestamp);
      expect(updated.metadata.generation).toBe(1);
    },
  },
  {
    name: "CORE-460 an update with another uid is a conflict",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const metadata = {
        ...object.metadata,
        uid: "11111111-2222-4333-8444-555555555555",
        resourceVersion: "",
      };
      const refusal = await scene.refused("PUT", maps(scene, "a"), { ...object, metadata }, 409);
      expect(refusal.reason).toBe("Conflict");
      expect(refusal.message).toContain("Precondition failed: UID in precondition");
    },
  },
  {
    name: "CORE-461 a ConfigMap may be replaced without a resource version",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      expect((await scene.put(maps(scene, "a"), configMap("a", { b: "2" }))).data).toEqual({ b: "2" });
    },
  },
  {
    name: "CORE-461 a custom resource may not be replaced without a resource version",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const refusal = await scene.refused("PUT", widgets(scene, "a"), widget("a", { size: 2 }), 422);
      expect(refusal.reason).toBe("Invalid");
      expect(refusal.details?.causes?.[0]).toMatchObject({
        reason: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: expect.stringContaining("must be specified for an update"),
      });
    },
  },
  {
    name: "CORE-461 a Lease may not be replaced without a resource version",
    async run(scene) {
      await scene.create(leases(scene), lease("a"));
      const refusal = await scene.refused(
        "PUT",
        leases(scene, "a"),
        lease("a", { holderIdentity: "x" }),
        422,
      );
      expect(refusal.message).toContain("metadata.resourceVersion");
    },
  },
  {
    name: "CORE-461 a wrong resource version is a conflict that names the object",
    async run(scene) {
      const old = await scene.create(maps(scene), configMap("a"));
      await scene.merge(maps(scene, "a"), { data: { a: "2" } });
      const refusal = await scene.refused("PUT", maps(scene, "a"), old, 409);
      expect(refusal).toMatchObject({
        status: "Failure",
        reason: "Conflict",
        details: { name: "a", kind: "configmaps" },
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      });
    },
  },
  {
    name: "CORE-461 a conflict of a grouped kind names resource and group",
    async run(scene) {
      const old = await scene.create(widgets(scene), widget("a"));
      await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
      const refusal = await scene.refused("PUT", widgets(scene, "a"), old, 409);
      expect(refusal.message).toContain(
        'Operation cannot be fulfilled on widgets.conformance.quartet.io "a"',
      );
      expect(refusal.details).toMatchObject({ name: "a", group: "conformance.quartet.io", kind: "widgets" });
    },
  },
  {
    name: "CORE-461 creating what exists is AlreadyExists",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const refusal = await scene.refused("POST", maps(scene), configMap("a"), 409);
      expect(refusal).toMatchObject({
        reason: "AlreadyExists",
        message: 'configmaps "a" already exists',
        details: { name: "a", kind: "configmaps" },
      });
    },
  },
  {
    name: "CORE-461 a create with a resource version is refused",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("a", {}, { resourceVersion: "5" }),
        500,
      );
      expect(refusal.message).toBe("resourceVersion should not be set on objects to be created");
    },
  },
  {
    name: "CORE-461 replacing a missing object is NotFound",
    async run(scene) {
      const refusal = await scene.refused("PUT", maps(scene, "a"), configMap("a"), 404);
      expect(refusal).toMatchObject({ reason: "NotFound", message: 'configmaps "a" not found' });
    },
  },
  {
    name: "CORE-461 replacing a missing Lease creates it",
    async run(scene) {
      const answer = await scene.client.request<Obj>(
        "PUT",
        leases(scene, "a"),
        lease("a", { holderIdentity: "x" }),
      );
      expect(answer.code).toBe(201);
      expect(answer.body.metadata.uid).toBeDefined();
    },
  },
  {
    name: "CORE-461 the name in the body must be the name in the path",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const refusal = await scene.refused("PUT", maps(scene, "a"), configMap("b"), 400);
      expect(refusal.message).toContain("the name of the object (b) does not match the name on the URL (a)");
    },
  },
  {
    name: "CORE-461 the namespace in the body must be the namespace in the path",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("a", {}, { namespace: "default" }),
        400,
      );
      expect(refusal.message).toBe(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    },
  },
  {
    name: "CORE-461 a body of another kind is refused",
    async run(scene) {
      const refusal = await scene.refused("POST", maps(scene), pod("a"), 400);
      expect(refusal.reason).toBe("BadRequest");
    },
  },
  {
    name: "CORE-461 a body of another version is refused",
    async run(scene) {
      const body = { ...(widget("a") as Obj), apiVersion: "conformance.quartet.io/v9" };
      const refusal = await scene.refused("POST", widgets(scene), body, 400);
      expect(refusal.reason).toBe("BadRequest");
    },
  },
  {
    name: "CORE-461 kind and apiVersion of a built-in kind may be left out, those of a custom resource may not",
    async run(scene) {
      const object = await scene.create(maps(scene), { metadata: { name: "a" }, data: { k: "v" } });
      expect(object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } });
      const refusal = await scene.refused(
        "POST",
        widgets(scene),
        { metadata: { name: "a" }, spec: { size: 1 } },
        400,
      );
      expect(refusal.message).toContain("Object 'Kind' is missing");
    },
  },
  {
    name: "CORE-461 what is no JSON is a bad request",
    async run(scene) {
      expect((await scene.refused("POST", maps(scene), "{nonsense", 400)).reason).toBe("BadRequest");
    },
  },
  {
    name: "CORE-461 an unknown content type is refused with 415",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        JSON.stringify(configMap("a")),
        415,
        "text/plain",
      );
      expect(refusal.reason).toBe("UnsupportedMediaType");
    },
  },
  {
    name: "CORE-461 YAML is accepted",
    async run(scene) {
      const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";
      const answer = await scene.client.request<Obj>("POST", maps(scene), yaml, {
        contentType: "application/yaml",
      });
      expect(answer.code).toBe(201);
      expect((await scene.get(maps(scene, "a"))).data).toEqual({ k: "v" });
    },
  },
  {
    name: "CORE-462 replacing an object by itself keeps the resource version and is no event",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      const watch = scene.watch(widgets(scene), `&resourceVersion=${object.metadata.resourceVersion}`);
      const again = await scene.put(widgets(scene, "a"), object);
      expect(again.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
      await watch.quiet();
    },
  },
  {
    name: "CORE-462 an empty patch keeps the resource version",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      expect((await scene.merge(maps(scene, "a"), {})).metadata.resourceVersion).toBe(
        object.metadata.resourceVersion,
      );
      const same = await scene.merge(maps(scene, "a"), { data: { a: "1" } });
      expect(same.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
    },
  },
  {
    name: "CORE-462 fields that defaulting fills in again make no change",
    async run(scene) {
      const body = { metadata: { name: "a" }, template: { spec: { containers: [container()] } } };
      const object = await scene.create(scene.at("v1", "podtemplates"), body);
      const again = await scene.put(scene.at("v1", "podtemplates", "a"), body);
      expect(again.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
    },
  },
  {
    name: "CORE-463 ConfigMaps, Secrets, Services and Leases have no generation",
    async run(scene) {
      const objects = [
        await scene.create(maps(scene), configMap("a")),
        await scene.create(scene.at("v1", "secrets"), { metadata: { name: "a" } }),
        await scene.create(scene.at("v1", "services"), service("a")),
        await scene.create(leases(scene), lease("a")),
      ];
      expect(objects.map(({ metadata }) => metadata.generation)).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    },
  },
  {
    name: "CORE-463 a StatefulSet's generation follows its spec alone",
    async run(scene) {
      const path = scene.at("apps/v1", "statefulsets", "a");
      expect(
        (await scene.create(scene.at("apps/v1", "statefulsets"), statefulSet("a"))).metadata.generation,
      ).toBe(1);
      expect((await scene.merge(path, { metadata: { labels: { x: "y" } } })).metadata.generation).toBe(1);
      const changed = await scene.merge(path, { spec: { minReadySeconds: 3 } });
      expect(changed.metadata.generation).toBe(2);
      const status = await scene.merge(`${path}/status`, { status: { replicas: 3 } });
      expect(status.metadata.generation).toBe(2);
    },
  },
  {
    name: "CORE-463 a pod's generation follows its spec",
    async run(scene) {
      const path = scene.at("v1", "pods", "a");
      expect((await scene.create(scene.at("v1", "pods"), pod("a"))).metadata.generation).toBe(1);
      const patch = { spec: { containers: [{ ...container("app:2") }] } };
      const changed = await scene.client.ok<Obj>("PATCH", path, patch, {
        contentType: "application/strategic-merge-patch+json",
      });
      expect(changed.metadata.generation).toBe(2);
      expect((await scene.merge(path, { metadata: { labels: { x: "y" } } })).metadata.generation).toBe(2);
    },
  },
  {
    name: "CORE-463 a custom resource's generation rises with any change outside metadata and status",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      expect((await scene.merge(widgets(scene, "a"), { spec: { size: 2 } })).metadata.generation).toBe(2);
      expect(
        (await scene.merge(widgets(scene, "a"), { metadata: { labels: { x: "y" } } })).metadata.generation,
      ).toBe(2);
      const status = await scene.merge(`${widgets(scene, "a")}/status`, { status: { phase: "Done" } });
      expect(status.metadata.generation).toBe(2);
    },
  },
  {
    name: "CORE-463 without status subresource a status change raises the generation",
    async run(scene) {
      const path = scene.at(WIDGETS, "plains", "a");
      const created = await scene.create(
        scene.at(WIDGETS, "plains"),
        plain("a", { status: { phase: "New" } }),
      );
      expect(created).toMatchObject({ metadata: { generation: 1 }, status: { phase: "New" } });
      const changed = await scene.merge(path, { status: { phase: "Done" } });
      expect(changed).toMatchObject({ metadata: { generation: 2 }, status: { phase: "Done" } });
    },
  },
  {
    name: "CORE-464 a new object's status is dropped",
    async run(scene) {
      const object = await scene.create(widgets(scene), { ...widget("a"), status: { phase: "Forged" } });
      expect(object.status).toBeUndefined();
      const set = await scene.create(scene.at("apps/v1", "statefulsets"), {
        ...statefulSet("a"),
        status: { replicas: 7 },
      });
      expect(set.status).toMatchObject({ replicas: 0 });
    },
  },
  {
    name: "CORE-464 PUT and PATCH of the object leave the status as it is",
    async run(scene) {
      const path = widgets(scene, "a");
      await scene.create(widgets(scene), widget("a"));
      const object = await scene.merge(`${path}/status`, { status: { phase: "Ready" } });
      const put = await scene.put(path, { ...object, status: { phase: "Forged" }, spec: { size: 2 } });
      expect(put).toMatchObject({ status: { phase: "Ready" }, spec: { size: 2 } });
      const patched = await scene.merge(path, { status: { phase: "Forged" }, spec: { size: 3 } });
      expect(patched).toMatchObject({ status: { phase: "Ready" }, spec: { size: 3 } });
    },
  },
  {
    name: "CORE-464 /status of a custom resource changes the status only",
    async run(scene) {
      const path = widgets(scene, "a");
      const object = await scene.create(widgets(scene), widget("a"));
      const metadata = { ...object.metadata, labels: { x: "y" }, annotations: { x: "y" } };
      const put = await scene.put(`${path}/status`, {
        ...object,
        metadata,
        spec: { size: 9 },
        status: { phase: "Ready" },
      });
      expect(put).toMatchObject({ spec: { size: 1 }, status: { phase: "Ready" } });
      expect(put.metadata.labels).toBeUndefined();
      expect(put.metadata.annotations).toBeUndefined();
    },
  },
  {
    name: "CORE-464 /status of a StatefulSet leaves its spec alone",
    async run(scene) {
      const path = scene.at("apps/v1", "statefulsets", "a");
      const object = await scene.create(scene.at("apps/v1", "statefulsets"), statefulSet("a"));
      const put = await scene.put(`${path}/status`, {
        ...object,
        metadata: { name: "a", namespace: scene.ns },
        spec: { ...object.spec, minReadySeconds: 9 },
        // Present, since the workload controller may have written it, and the server lets nobody take it away.
        status: { replicas: 4, observedGeneration: 1, collisionCount: 0 },
      });
      expect(put.spec?.minReadySeconds).toBeUndefined();
      expect(put.status).toMatchObject({ replicas: 4 });
    },
  },
  {
    name: "CORE-464 /status honours the resource version",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
      const refusal = await scene.refused(
        "PUT",
        `${widgets(scene, "a")}/status`,
        { ...object, status: { phase: "Ready" } },
        409,
      );
      expect(refusal.reason).toBe("Conflict");
    },
  },
  {
    name: "CORE-464 a kind without status subresource has no /status",
    async run(scene) {
      await scene.create(scene.at(WIDGETS, "plains"), plain("a"));
      await scene.refused("GET", `${scene.at(WIDGETS, "plains", "a")}/status`, undefined, 404);
    },
  },
  {
    name: "CORE-464 GET of /status shows the whole object",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      expect(await scene.get(`${widgets(scene, "a")}/status`)).toMatchObject({
        kind: "Widget",
        spec: { size: 1 },
      });
    },
  },
  {
    name: "CORE-475 generateName appends five characters",
    async run(scene) {
      const body = { metadata: { generateName: "made-" }, data: {} };
      const first = await scene.create(maps(scene), body);
      const second = await scene.create(maps(scene), body);
      expect(first.metadata.name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(second.metadata.name).not.toBe(first.metadata.name);
      expect(first.metadata.generateName).toBe("made-");
    },
  },
  {
    name: "CORE-475 a long generateName is cut to make room",
    async run(scene) {
      const object = await scene.create(maps(scene), { metadata: { generateName: `${"a".repeat(70)}-` } });
      expect(object.metadata.name).toMatch(/^a{58}[a-z0-9]{5}$/);
    },
  },
  {
    name: "CORE-475 an object needs a name",
    async run(scene) {
      const refusal = await scene.refused("POST", maps(scene), { metadata: {} }, 422);
      expect(refusal.details?.causes).toEqual([
        {
          reason: "FieldValueRequired",
          field: "metadata.name",
          message: "Required value: name or generateName is required",
        },
      ]);
    },
  },
  {
    name: "CORE-475 names are RFC 1123 subdomains",
    async run(scene) {
      for (const name of ["Upper", "under_score", "-dash", "dot.", "a".repeat(254)]) {
        const refusal = await scene.refused("POST", maps(scene), configMap(name), 422);
        expect(refusal.details?.causes?.[0]).toMatchObject({
          reason: "FieldValueInvalid",
          field: "metadata.name",
        });
      }
      await scene.create(maps(scene), configMap("a.b-c.1"));
    },
  },
  {
    name: "CORE-475 service names are labels",
    async run(scene) {
      for (const name of ["a.b", "a".repeat(64)]) {
        const refusal = await scene.refused("POST", scene.at("v1", "services"), service(name), 422);
        expect(refusal.details?.causes?.[0]?.field).toBe("metadata.name");
      }
    },
  },
  {
    name: "CORE-475 RBAC names may hold capitals and colons",
    async run(scene) {
      const path = scene.at("rbac.authorization.k8s.io/v1", "roles");
      await scene.create(path, { metadata: { name: "system:Some_Role" }, rules: [] });
      expect((await scene.get(`${path}/system%3ASome_Role`)).metadata.name).toBe("system:Some_Role");
    },
  },
  {
    name: "CORE-475 labels have rules for keys and values",
    async run(scene) {
      for (const labels of [
        { "a b": "c" },
        { a: "not ok" },
        { a: "x".repeat(64) },
        { "/a": "b" },
        { "a/b/c": "d" },
      ]) {
        const refusal = await scene.refused("POST", maps(scene), configMap("a", {}, { labels }), 422);
        expect(refusal.details?.causes?.[0]).toMatchObject({
          reason: "FieldValueInvalid",
          field: "metadata.labels",
        });
      }
      await scene.create(maps(scene), configMap("a", {}, { labels: { "a.b/C_d": "E-f.1", empty: "" } }));
    },
  },
  {
    name: "CORE-475 annotations together may hold 256 KiB",
    async run(scene) {
      const fits = { a: "x".repeat(256 * 1024 - 1) };
      await scene.create(maps(scene), configMap("a", {}, { annotations: fits }));
      const over = { a: "x".repeat(256 * 1024) };
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("b", {}, { annotations: over }),
        422,
      );
      expect(refusal.details?.causes?.[0]).toMatchObject({
        reason: "FieldValueTooLong",
        field: "metadata.annotations",
      });
    },
  },
  {
    name: "CORE-475 an object beyond 1.5 MiB is refused",
    async run(scene) {
      const big = widget("a", { free: { text: "x".repeat(1_600_000) } });
      const refusal = await scene.refused("POST", widgets(scene), big, 500);
      expect(refusal.message).toBe("etcdserver: request is too large");
      await scene.refused("GET", widgets(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-475 a request beyond 3 MiB is refused with 413",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("a", { a: "x".repeat(3_200_000) }),
        413,
      );
      expect(refusal.reason).toBe("RequestEntityTooLarge");
    },
  },
  {
    name: "CORE-475 built-in kinds want finalizers with a domain",
    async run(scene) {
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("a", {}, { finalizers: ["bare"] }),
        422,
      );
      expect(refusal.details?.causes?.[0]).toMatchObject({ field: "metadata.finalizers[0]" });
      await scene.create(maps(scene), configMap("a", {}, { finalizers: ["example.com/x"] }));
      await scene.merge(maps(scene, "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "CORE-475 owner references are complete and name one controller",
    async run(scene) {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };
      for (const key of ["apiVersion", "kind", "name", "uid"]) {
        const ownerReferences = [{ ...owner, [key]: "" }];
        const refusal = await scene.refused(
          "POST",
          maps(scene),
          configMap("a", {}, { ownerReferences }),
          422,
        );
        expect(refusal.details?.causes?.[0]?.field).toBe(`metadata.ownerReferences[0].${key}`);
      }
      const both = ["a", "b"].map((uid) => ({ ...owner, uid, controller: true }));
      const refusal = await scene.refused(
        "POST",
        maps(scene),
        configMap("a", {}, { ownerReferences: both }),
        422,
      );
      expect(refusal.message).toContain("Only one reference can have Controller set to true");
    },
  },
  {
    name: "CORE-139 dryRun=All shows the result of a create and stores nothing",
    async run(scene) {
      const answer = await scene.create(`${maps(scene)}?dryRun=All`, configMap("a"));
      expect(answer.metadata.uid).toBeDefined();
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
      const refusal = await scene.refused(
        "POST",
        `${widgets(scene)}?dryRun=All`,
        widget("a", { size: 0 }),
        422,
      );
      expect(refusal.reason).toBe("Invalid");
    },
  },
  {
    name: "CORE-139 dryRun=All of update, patch and delete stores nothing",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const path = `${maps(scene, "a")}?dryRun=All`;
      expect((await scene.put(path, configMap("a", { b: "2" }))).data).toEqual({ b: "2" });
      expect((await scene.merge(path, { data: { c: "3" } })).data).toEqual({ a: "1", c: "3" });
      await scene.remove(path);
      const after = await scene.get(maps(scene, "a"));
      expect(after).toEqual(object);
    },
  },
  {
    name: "CORE-134 integers beyond 2^53 are kept to the last digit",
    async run(scene) {
      // as text: the numbers of a test are floating point, too
      const body = (value: string): string =>
        `{"apiVersion":"${WIDGETS}","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"low":${value},"free":{"n":${value}}}}`;
      await scene.client.ok("POST", widgets(scene), body("9007199254740993"));
      await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
      const test = (value: string): string =>
        `[{"op":"test","path":"/spec/free/n","value":${value}},{"op":"test","path":"/spec/low","value":${value}}]`;
      const patch = { contentType: "application/json-patch+json" };
      await scene.client.ok("PATCH", widgets(scene, "a"), test("9007199254740993"), patch);
      await scene.refused("PATCH", widgets(scene, "a"), test("9007199254740992"), 422, patch.contentType);
    },
  },
  {
    name: "CORE-135 MicroTime needs exactly six digits",
    async run(scene) {
      for (const renewTime of [
        "2024-05-06T07:08:09Z",
        "2024-05-06T07:08:09.123Z",
        "2024-05-06T07:08:09.123456789Z",
      ]) {
        const refusal = await scene.refused("POST", leases(scene), lease("a", { renewTime }), 400);
        expect(refusal.reason).toBe("BadRequest");
      }
      const made = await scene.create(
        leases(scene),
        lease("a", { renewTime: "2024-05-06T07:08:09.123456Z" }),
      );
      expect(made.spec?.renewTime).toBe("2024-05-06T07:08:09.123456Z");
    },
  },
  {
    name: "CORE-461 a value of the wrong type in a built-in kind is a bad request",
    async run(scene) {
      const body = { metadata: { name: "a" }, data: { k: 1 } };
      const refusal = await scene.refused("POST", maps(scene), body, 400);
      expect(refusal.message).toContain('ConfigMap in version "v1" cannot be handled as a ConfigMap');
      await scene.refused(
        "POST",
        scene.at("apps/v1", "statefulsets"),
        statefulSet("a", { replicas: "2" }),
        400,
      );
    },
  },
];
