/** Patches of all four kinds, field validation. */
import { expect } from "vitest";
import { configMap, container, pod, statefulSet, WIDGETS, widget } from "./fixtures.testkit.ts";
import {
  type ConformanceCase,
  JSON_PATCH,
  MERGE,
  type Obj,
  type Refusal,
  type Scene,
  STRATEGIC,
} from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const sets = (scene: Scene, name?: string): string => scene.at("apps/v1", "statefulsets", name);

const json = (scene: Scene, path: string, patch: object): Promise<Obj> =>
  scene.client.ok<Obj>("PATCH", path, patch, { contentType: JSON_PATCH });
const strategic = (scene: Scene, path: string, patch: object): Promise<Obj> =>
  scene.client.ok<Obj>("PATCH", path, patch, { contentType: STRATEGIC });

interface Container {
  name: string;
  image: string;
  env?: { name: string; value: string }[];
}
const containers = (object: Obj): Container[] =>
  (object.spec!.template as { spec: { containers: Container[] } }).spec.containers;
const template = (spec: object): object => ({ spec: { template: { spec } } });

export const PATCH_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-471 JSON patch: add, replace, remove, move, copy",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", { a: "1", b: "2", c: "3" }));
      const patched = await json(scene, maps(scene, "a"), [
        { op: "add", path: "/data/d", value: "4" },
        { op: "replace", path: "/data/a", value: "10" },
        { op: "remove", path: "/data/b" },
        { op: "move", from: "/data/c", path: "/data/e" },
        { op: "copy", from: "/data/d", path: "/data/f" },
      ]);
      expect(patched.data).toEqual({ a: "10", d: "4", e: "3", f: "4" });
    },
  },
  {
    name: "CORE-471 JSON patch: escaped keys and positions of lists",
    async run(scene) {
      const metadata = { annotations: { "a/b": "1", "c.d": "2" } };
      await scene.create(widgets(scene), widget("a", { atoms: ["x", "y"] }, metadata));
      const patched = await json(scene, widgets(scene, "a"), [
        { op: "replace", path: "/metadata/annotations/a~1b", value: "10" },
        { op: "remove", path: "/metadata/annotations/c.d" },
        { op: "add", path: "/spec/atoms/0", value: "first" },
        { op: "replace", path: "/spec/atoms/2", value: "z" },
      ]);
      expect(patched.metadata.annotations).toEqual({ "a/b": "10" });
      expect(patched.spec?.atoms).toEqual(["first", "x", "z"]);
      expect(
        (await json(scene, widgets(scene, "a"), [{ op: "remove", path: "/spec/atoms/0" }])).spec?.atoms,
      ).toEqual(["x", "z"]);
      const appended = await json(scene, widgets(scene, "a"), [
        { op: "add", path: "/spec/atoms/-", value: "end" },
      ]);
      expect(appended.spec?.atoms).toEqual(["x", "z", "end"]);
    },
  },
  {
    name: "CORE-471 JSON patch: a failed test is 422 and changes nothing",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const patch = [
        { op: "add", path: "/data/b", value: "2" },
        { op: "test", path: "/data/a", value: "other" },
      ];
      const refusal = await scene.refused("PATCH", maps(scene, "a"), patch, 422, JSON_PATCH);
      expect(refusal).toMatchObject({
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request",
      });
      expect(await scene.get(maps(scene, "a"))).toEqual(object);
    },
  },
  {
    name: "CORE-471 JSON patch: test for null passes where nothing is",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const patched = await json(scene, maps(scene, "a"), [
        { op: "test", path: "/metadata/finalizers", value: null },
        { op: "add", path: "/data/b", value: "2" },
      ]);
      expect(patched.data).toEqual({ a: "1", b: "2" });
    },
  },
  {
    name: "CORE-471 JSON patch: test of a value where nothing is fails",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const patch = [{ op: "test", path: "/metadata/finalizers", value: [] }];
      await scene.refused("PATCH", maps(scene, "a"), patch, 422, JSON_PATCH);
    },
  },
  {
    name: "CORE-471 JSON patch: what cannot be done is 422",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      for (const patch of [
        [{ op: "remove", path: "/data/missing" }],
        [{ op: "add", path: "/nosuch/deep", value: "x" }],
        [{ op: "move", from: "/data/missing", path: "/data/b" }],
      ]) {
        await scene.refused("PATCH", maps(scene, "a"), patch, 422, JSON_PATCH);
      }
    },
  },
  {
    name: "CORE-471 JSON patch: replace of a missing key adds it",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const patched = await json(scene, maps(scene, "a"), [{ op: "replace", path: "/data/b", value: "2" }]);
      expect(patched.data).toEqual({ a: "1", b: "2" });
    },
  },
  {
    name: "CORE-471 JSON patch: an object is no patch",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.refused("PATCH", maps(scene, "a"), { data: {} }, 400, JSON_PATCH);
    },
  },
  {
    name: "CORE-471 merge patch: maps merge, null removes, lists are replaced",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", { labels: { a: "1", b: "2" }, atoms: ["x", "y"] }));
      const patched = await scene.merge(widgets(scene, "a"), {
        spec: { labels: { a: null, c: "3" }, atoms: ["z"] },
      });
      expect(patched.spec).toMatchObject({ labels: { b: "2", c: "3" }, atoms: ["z"] });
    },
  },
  {
    name: "CORE-471 merge patch: a list of a built-in kind is replaced, too",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      const patch = template({ containers: [{ name: "other", image: "b:1" }] });
      expect(containers(await scene.merge(sets(scene, "a"), patch)).map(({ name }) => name)).toEqual([
        "other",
      ]);
    },
  },
  {
    name: "CORE-471 a patch with a stale resource version is a conflict",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      await scene.merge(maps(scene, "a"), { data: { b: "2" } });
      const { resourceVersion } = object.metadata;
      const patch = { metadata: { resourceVersion }, data: { c: "3" } };
      const refusal = await scene.refused("PATCH", maps(scene, "a"), patch, 409, MERGE);
      expect(refusal.reason).toBe("Conflict");
    },
  },
  {
    name: "CORE-471 patching what is missing is NotFound",
    async run(scene) {
      await scene.refused("PATCH", maps(scene, "a"), {}, 404, MERGE);
    },
  },
  {
    name: "CORE-471 a patch cannot rename",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.refused("PATCH", maps(scene, "a"), { metadata: { name: "b" } }, 400, MERGE);
    },
  },
  {
    name: "CORE-471 a patch that leaves an invalid object is refused",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const refusal = await scene.refused("PATCH", widgets(scene, "a"), { spec: { size: null } }, 422, MERGE);
      expect(refusal.details?.causes?.[0]?.field).toBe("spec.size");
    },
  },
  {
    name: "CORE-471 broken JSON is a bad request",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.refused("PATCH", maps(scene, "a"), "{broken", 400, MERGE);
      await scene.refused("PATCH", maps(scene, "a"), "[broken", 400, JSON_PATCH);
    },
  },
  {
    name: "CORE-471 a custom resource takes no strategic merge patch",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const refusal = await scene.refused("PATCH", widgets(scene, "a"), {}, 415, STRATEGIC);
      expect(refusal.reason).toBe("UnsupportedMediaType");
      expect(refusal.message).toContain(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
      );
    },
  },
  {
    name: "CORE-471 strategic: containers and env merge by name",
    async run(scene) {
      const spec = { containers: [{ ...(container() as Container), env: [{ name: "A", value: "1" }] }] };
      await scene.create(
        sets(scene),
        statefulSet("a", { template: { metadata: { labels: { app: "a" } }, spec } }),
      );
      const patched = await strategic(
        scene,
        sets(scene, "a"),
        template({
          containers: [
            { name: "main", env: [{ name: "B", value: "2" }] },
            { name: "side", image: "side:1" },
          ],
        }),
      );
      const byName = new Map(containers(patched).map((entry) => [entry.name, entry]));
      expect([...byName.keys()].sort()).toEqual(["main", "side"]);
      expect(byName.get("main")).toMatchObject({ image: "app:1" });
      expect(
        byName
          .get("main")!
          .env!.map(({ name }) => name)
          .sort(),
      ).toEqual(["A", "B"]);
    },
  },
  {
    name: "CORE-471 strategic: $patch delete removes one element",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      await strategic(scene, sets(scene, "a"), template({ containers: [{ name: "side", image: "side:1" }] }));
      const patched = await strategic(
        scene,
        sets(scene, "a"),
        template({ containers: [{ name: "side", $patch: "delete" }] }),
      );
      expect(containers(patched).map(({ name }) => name)).toEqual(["main"]);
    },
  },
  {
    name: "CORE-471 strategic: $patch replace replaces the list",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      const patched = await strategic(
        scene,
        sets(scene, "a"),
        template({ containers: [{ name: "only", image: "only:1" }, { $patch: "replace" }] }),
      );
      expect(containers(patched).map(({ name }) => name)).toEqual(["only"]);
    },
  },
  {
    name: "CORE-471 strategic: conditions of a pod merge by type",
    async run(scene) {
      const path = scene.at("v1", "pods", "a");
      await scene.create(scene.at("v1", "pods"), pod("a"));
      const set = (type: string, status: string): Promise<Obj> =>
        strategic(scene, `${path}/status`, { status: { conditions: [{ type, status }] } });
      await set("One", "True");
      await set("Two", "True");
      const patched = await set("One", "False");
      const conditions = patched.status?.conditions as { type: string; status: string }[];
      const own = conditions.filter(({ type }) => type === "One" || type === "Two");
      expect(own.map(({ type, status }) => `${type}=${status}`).sort()).toEqual(["One=False", "Two=True"]);
    },
  },
  {
    name: "CORE-471 strategic: finalizers are a set",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", {}, { finalizers: ["quartet.io/a"] }));
      const patched = await strategic(scene, maps(scene, "a"), {
        metadata: { finalizers: ["quartet.io/b"] },
      });
      expect([...(patched.metadata.finalizers ?? [])].sort()).toEqual(["quartet.io/a", "quartet.io/b"]);
      const cut = await strategic(scene, maps(scene, "a"), {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["quartet.io/a", "quartet.io/b"] },
      });
      expect(cut.metadata.finalizers).toBeUndefined();
    },
  },
  {
    name: "CORE-470 Strict: an unknown field of a built-in kind is refused",
    async run(scene) {
      const body = { ...(configMap("a") as Obj), unknown: 1 };
      const refusal = await scene.refused("POST", `${maps(scene)}?fieldValidation=Strict`, body, 400);
      expect(refusal.message).toContain('strict decoding error: unknown field "unknown"');
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-470 Strict: unknown fields are named by their path",
    async run(scene) {
      const set = statefulSet("a", {
        template: {
          metadata: { labels: { app: "a" } },
          spec: { containers: [{ ...container(), imagge: "x" }] },
        },
      });
      const refusal = await scene.refused("POST", `${sets(scene)}?fieldValidation=Strict`, set, 400);
      expect(refusal.message).toContain('unknown field "spec.template.spec.containers[0].imagge"');
    },
  },
  {
    name: "CORE-470 Strict: an unknown field of a custom resource is refused",
    async run(scene) {
      const path = `${widgets(scene)}?fieldValidation=Strict`;
      const refusal = await scene.refused(
        "POST",
        path,
        widget("a", { unknown: 1, parts: [{ name: "x", z: 1 }] }),
        400,
      );
      expect(refusal.message).toContain("strict decoding error");
      expect(refusal.message).toContain('unknown field "spec.unknown"');
      expect(refusal.message).toContain('unknown field "spec.parts[0].z"');
    },
  },
  {
    name: "CORE-470 Strict: a duplicate field is refused",
    async run(scene) {
      const body = '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}';
      const refusal = await scene.refused("POST", `${maps(scene)}?fieldValidation=Strict`, body, 400);
      expect(refusal.message).toContain('duplicate field "data.k"');
    },
  },
  {
    name: "CORE-470 Warn is the default: the field is dropped with a warning",
    async run(scene) {
      const body = { ...(configMap("a") as Obj), unknown: 1 };
      const answer = await scene.client.request<Obj>("POST", maps(scene), body);
      expect(answer.code).toBe(201);
      expect(answer.headers.warning).toContain('unknown field \\"unknown\\"');
      expect(answer.body).not.toHaveProperty("unknown");
      const custom = await scene.client.request<Obj>("POST", widgets(scene), widget("a", { unknown: 1 }));
      expect(custom.headers.warning).toContain('unknown field \\"spec.unknown\\"');
    },
  },
  {
    name: "CORE-470 Ignore: the field is dropped in silence",
    async run(scene) {
      const body = { ...(configMap("a") as Obj), unknown: 1 };
      const answer = await scene.client.request<Obj>("POST", `${maps(scene)}?fieldValidation=Ignore`, body);
      expect(answer.code).toBe(201);
      expect(answer.headers.warning).toBeUndefined();
    },
  },
  {
    name: "CORE-470 Strict holds for patches, too",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const path = `${widgets(scene, "a")}?fieldValidation=Strict`;
      const refusal = await scene.refused("PATCH", path, { spec: { unknown: 1 } }, 422, MERGE);
      expect(refusal.message).toContain("unknown");
    },
  },
  {
    name: "CORE-470 an unknown value of fieldValidation is refused",
    async run(scene) {
      await scene.refused("POST", `${maps(scene)}?fieldValidation=Maybe`, configMap("a"), 422);
    },
  },
  {
    name: "CORE-471 force belongs to apply alone",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      const refusal = await scene.refused("PATCH", `${maps(scene, "a")}?force=true`, {}, 422, MERGE);
      expect((refusal as Refusal).details?.causes?.[0]?.field).toBe("force");
    },
  },
  {
    name: "CORE-136 scale: read, replaced, patched",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      const scale = await scene.get(`${sets(scene, "a")}/scale`);
      expect(scale).toMatchObject({
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: { name: "a", namespace: scene.ns },
        status: { replicas: 0, selector: "app=a" },
      });
      // no resource version: the controller of a full cluster writes in between
      const metadata = { name: "a", namespace: scene.ns };
      const put = await scene.put(`${sets(scene, "a")}/scale`, { ...scale, metadata, spec: { replicas: 3 } });
      expect(put.spec).toEqual({ replicas: 3 });
      await scene.merge(`${sets(scene, "a")}/scale`, { spec: { replicas: 0 } });
      expect((await scene.get(sets(scene, "a"))).spec?.replicas).toBe(0);
    },
  },
  {
    name: "CORE-136 scale of a custom resource",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", { size: 4 }));
      await scene.merge(`${widgets(scene, "a")}/status`, { status: { replicas: 2, selector: "x=y" } });
      expect(await scene.get(`${widgets(scene, "a")}/scale`)).toMatchObject({
        kind: "Scale",
        spec: { replicas: 4 },
        status: { replicas: 2, selector: "x=y" },
      });
      await scene.merge(`${widgets(scene, "a")}/scale`, { spec: { replicas: 9 } });
      expect((await scene.get(widgets(scene, "a"))).spec?.size).toBe(9);
    },
  },
];
