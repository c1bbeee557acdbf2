/** Server-side apply and managed fields. */
import { expect } from "vitest";
import { configMap, container, statefulSet, WIDGETS, widget } from "./fixtures.testkit.ts";
import { APPLY, type ConformanceCase, type Obj, type Scene, STRATEGIC } from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const sets = (scene: Scene, name?: string): string => scene.at("apps/v1", "statefulsets", name);

const map = (data: object, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...more },
  data,
});
const part = (spec: object, more: object = {}): object => ({
  apiVersion: WIDGETS,
  kind: "Widget",
  metadata: { name: "a", ...more },
  spec,
});

/** `manager operation[/subresource]` to its fields. */
function managed(object: Obj): Record<string, unknown> {
  return Object.fromEntries(
    (object.metadata.managedFields ?? []).map(({ manager, operation, subresource, fieldsV1 }) => [
      `${manager} ${operation}${subresource === undefined ? "" : `/${subresource}`}`,
      fieldsV1,
    ]),
  );
}

const applied = async (
  scene: Scene,
  path: string,
  body: object,
  manager = "one",
  force = false,
): Promise<Obj> => {
  const answer = await scene.apply(path, body, manager, force);
  expect(answer.code, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

export const APPLY_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-471 apply creates what is missing",
    async run(scene) {
      const answer = await scene.apply(maps(scene, "a"), map({ k: "v" }), "one");
      expect(answer.code).toBe(201);
      expect(answer.body.data).toEqual({ k: "v" });
      expect(managed(answer.body)).toEqual({ "one Apply": { "f:data": { "f:k": {} } } });
    },
  },
  {
    name: "CORE-471 apply merges into what exists",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", { x: "1" }));
      const answer = await scene.apply(maps(scene, "a"), map({ k: "v" }), "one");
      expect(answer.code).toBe(200);
      expect(answer.body.data).toEqual({ x: "1", k: "v" });
    },
  },
  {
    name: "CORE-471 applying the same again changes nothing",
    async run(scene) {
      const first = await applied(scene, widgets(scene, "a"), part({ size: 2, labels: { a: "1" } }));
      const again = await applied(scene, widgets(scene, "a"), part({ size: 2, labels: { a: "1" } }));
      expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    },
  },
  {
    name: "CORE-471 a field that is no longer applied is removed",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v", l: "w" }));
      const second = await applied(scene, maps(scene, "a"), map({ k: "v" }));
      expect(second.data).toEqual({ k: "v" });
    },
  },
  {
    name: "CORE-471 a field that somebody else applies, too, stays",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v", l: "w" }), "one");
      await applied(scene, maps(scene, "a"), map({ l: "w" }), "two");
      const after = await applied(scene, maps(scene, "a"), map({ k: "v" }), "one");
      expect(after.data).toEqual({ k: "v", l: "w" });
      expect(managed(after)).toEqual({
        "one Apply": { "f:data": { "f:k": {} } },
        "two Apply": { "f:data": { "f:l": {} } },
      });
    },
  },
  {
    name: "CORE-471 another manager's value is a conflict that names manager and field",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v" }), "one");
      const answer = await scene.apply(maps(scene, "a"), map({ k: "other" }), "two");
      expect(answer.code).toBe(409);
      expect(answer.body).toMatchObject({
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.k',
        details: {
          causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.k" }],
        },
      });
      expect((await scene.get(maps(scene, "a"))).data).toEqual({ k: "v" });
    },
  },
  {
    name: "CORE-471 the conflict with an updater names its version",
    async run(scene) {
      await scene.create(`${maps(scene)}?fieldManager=editor`, configMap("a", { k: "v" }));
      const answer = await scene.apply(maps(scene, "a"), map({ k: "other" }), "two");
      expect(answer.code).toBe(409);
      expect(answer.body.details?.causes?.[0]?.message).toMatch(/^conflict with "editor" using v1/);
    },
  },
  {
    name: "CORE-471 several conflicts are listed, each with its field",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "1", l: "1", m: "1" }), "one");
      const answer = await scene.apply(maps(scene, "a"), map({ k: "2", l: "2", m: "1" }), "two");
      expect(answer.body.message).toContain("Apply failed with 2 conflicts: ");
      expect(answer.body.details?.causes?.map(({ field }) => field).sort()).toEqual([".data.k", ".data.l"]);
    },
  },
  {
    name: "CORE-471 force takes the field over",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v", l: "w" }), "one");
      const taken = await applied(scene, maps(scene, "a"), map({ k: "other" }), "two", true);
      expect(taken.data).toEqual({ k: "other", l: "w" });
      expect(managed(taken)).toEqual({
        "one Apply": { "f:data": { "f:l": {} } },
        "two Apply": { "f:data": { "f:k": {} } },
      });
    },
  },
  {
    name: "CORE-471 applying the value that is there makes a co-owner, no conflict",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v" }), "one");
      const both = await applied(scene, maps(scene, "a"), map({ k: "v" }), "two");
      expect(Object.keys(managed(both)).sort()).toEqual(["one Apply", "two Apply"]);
    },
  },
  {
    name: "CORE-471 an update takes ownership from the appliers",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v", l: "w" }), "one");
      const updated = await scene.merge(`${maps(scene, "a")}?fieldManager=editor`, {
        data: { k: "changed" },
      });
      expect(managed(updated)).toEqual({
        "one Apply": { "f:data": { "f:l": {} } },
        "editor Update": { "f:data": { "f:k": {} } },
      });
    },
  },
  {
    name: "CORE-471 maps and lists of a custom resource: fields of who creates it",
    async run(scene) {
      const spec = {
        size: 2,
        labels: { a: "1" },
        names: ["x"],
        atoms: ["y"],
        parts: [{ name: "p", value: 1 }],
      };
      const made = await scene.create(`${widgets(scene)}?fieldManager=maker`, widget("a", spec));
      expect(managed(made)).toEqual({
        "maker Update": {
          "f:spec": {
            ".": {},
            "f:atoms": {},
            "f:color": {},
            "f:labels": { ".": {}, "f:a": {} },
            "f:names": { ".": {}, 'v:"x"': {} },
            "f:nested": { ".": {}, "f:level": {} },
            "f:parts": { ".": {}, 'k:{"name":"p"}': { ".": {}, "f:name": {}, "f:note": {}, "f:value": {} } },
            "f:size": {},
          },
        },
      });
    },
  },
  {
    name: "CORE-471 fields of who creates a StatefulSet",
    async run(scene) {
      const made = await scene.create(`${sets(scene)}?fieldManager=maker`, statefulSet("a"));
      const fields = managed(made)["maker Update"] as { "f:spec": Record<string, unknown> };
      expect(fields["f:spec"]).toMatchObject({
        "f:replicas": {},
        "f:selector": {},
        "f:updateStrategy": { "f:rollingUpdate": { ".": {}, "f:partition": {} }, "f:type": {} },
        "f:template": {
          "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
          "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:image": {}, "f:name": {} } } },
        },
      });
      expect(fields).not.toHaveProperty("f:status");
      expect(fields["f:spec"]).not.toHaveProperty(["."]);
    },
  },
  {
    name: "CORE-471 keyed lists: managers own elements of their own",
    async run(scene) {
      await applied(scene, widgets(scene, "a"), part({ size: 1, parts: [{ name: "x", value: 1 }] }), "one");
      const both = await applied(
        scene,
        widgets(scene, "a"),
        part({ parts: [{ name: "y", value: 2 }] }),
        "two",
      );
      expect(both.spec?.parts).toMatchObject([
        { name: "x", value: 1 },
        { name: "y", value: 2 },
      ]);
      const less = await applied(scene, widgets(scene, "a"), part({ size: 1 }), "one");
      expect(less.spec?.parts).toMatchObject([{ name: "y", value: 2 }]);
    },
  },
  {
    name: "CORE-471 keyed lists: two managers share one element",
    async run(scene) {
      await applied(scene, widgets(scene, "a"), part({ size: 1, parts: [{ name: "x", value: 1 }] }), "one");
      await applied(scene, widgets(scene, "a"), part({ parts: [{ name: "x", note: "mine" }] }), "two");
      const less = await applied(scene, widgets(scene, "a"), part({ size: 1 }), "one");
      expect(less.spec?.parts).toEqual([{ name: "x", note: "mine" }]);
    },
  },
  {
    name: "CORE-471 sets: elements have owners, too",
    async run(scene) {
      await applied(scene, widgets(scene, "a"), part({ size: 1, names: ["x", "y"] }), "one");
      const both = await applied(scene, widgets(scene, "a"), part({ names: ["z", "y"] }), "two");
      expect([...(both.spec!.names as string[])].sort()).toEqual(["x", "y", "z"]);
      const less = await applied(scene, widgets(scene, "a"), part({ size: 1 }), "one");
      expect([...(less.spec!.names as string[])].sort()).toEqual(["y", "z"]);
    },
  },
  {
    name: "CORE-471 atomic lists belong to one manager as a whole",
    async run(scene) {
      await applied(scene, widgets(scene, "a"), part({ size: 1, atoms: ["x"] }), "one");
      const answer = await scene.apply(widgets(scene, "a"), part({ atoms: ["y"] }), "two");
      expect(answer.code).toBe(409);
      expect(answer.body.details?.causes?.[0]?.field).toBe(".spec.atoms");
    },
  },
  {
    name: "CORE-471 containers are applied by name and keep what others set in them",
    async run(scene) {
      await scene.create(sets(scene), statefulSet("a"));
      const env = {
        spec: { template: { spec: { containers: [{ name: "main", env: [{ name: "A", value: "1" }] }] } } },
      };
      await scene.client.ok("PATCH", `${sets(scene, "a")}?fieldManager=other`, env, {
        contentType: STRATEGIC,
      });
      const body = {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        metadata: { name: "a" },
        spec: { template: { spec: { containers: [{ ...container("app:2") }] } } },
      };
      const after = await applied(scene, sets(scene, "a"), body, "one", true);
      const { containers } = (after.spec!.template as { spec: { containers: object[] } }).spec;
      expect(containers).toMatchObject([{ name: "main", image: "app:2", env: [{ name: "A", value: "1" }] }]);
    },
  },
  {
    name: "CORE-471 finalizers and owner references are applied by element",
    async run(scene) {
      await applied(scene, maps(scene, "a"), map({ k: "v" }, { finalizers: ["quartet.io/one"] }), "one");
      const both = await applied(
        scene,
        maps(scene, "a"),
        map({ k: "v" }, { finalizers: ["quartet.io/two"] }),
        "two",
      );
      expect([...(both.metadata.finalizers ?? [])].sort()).toEqual(["quartet.io/one", "quartet.io/two"]);
      const less = await applied(scene, maps(scene, "a"), map({ k: "v" }), "one");
      expect(less.metadata.finalizers).toEqual(["quartet.io/two"]);
      await applied(scene, maps(scene, "a"), map({ k: "v" }), "two");
    },
  },
  {
    name: "CORE-471 an empty map of a built-in kind is not stored, so it is a conflict to apply it twice",
    async run(scene) {
      expect((await applied(scene, maps(scene, "a"), map({}), "one")).data).toBeUndefined();
      const answer = await scene.apply(maps(scene, "a"), map({}), "two");
      expect(answer.code).toBe(409);
      expect(answer.body.details?.causes?.[0]?.field).toBe(".data");
    },
  },
  {
    name: "CORE-471 applying the status goes through the subresource",
    async run(scene) {
      await scene.create(`${widgets(scene)}?fieldManager=maker`, widget("a"));
      const body = {
        apiVersion: WIDGETS,
        kind: "Widget",
        metadata: { name: "a" },
        status: { phase: "Ready" },
      };
      const after = await applied(scene, `${widgets(scene, "a")}/status`, body);
      expect(after).toMatchObject({ status: { phase: "Ready" }, spec: { size: 1 } });
      expect(managed(after)["one Apply/status"]).toEqual({ "f:status": { "f:phase": {} } });
    },
  },
  {
    name: "CORE-471 a status update is noted with its subresource",
    async run(scene) {
      await scene.create(`${widgets(scene)}?fieldManager=maker`, widget("a"));
      const path = `${widgets(scene, "a")}/status?fieldManager=keeper`;
      const after = await scene.merge(path, { status: { phase: "Ready" } });
      expect(managed(after)["keeper Update/status"]).toEqual({ "f:status": { ".": {}, "f:phase": {} } });
    },
  },
  {
    name: "CORE-471 apply needs a field manager",
    async run(scene) {
      const refusal = await scene.refused("PATCH", maps(scene, "a"), map({}), 422, APPLY);
      expect(refusal.message).toContain("fieldManager: Required value: is required for apply patch");
    },
  },
  {
    name: "CORE-471 apply refuses managedFields",
    async run(scene) {
      const answer = await scene.apply(maps(scene, "a"), map({}, { managedFields: [{ manager: "x" }] }));
      expect(answer.code).toBe(400);
      expect(answer.body.message).toContain("metadata.managedFields must be nil");
    },
  },
  {
    name: "CORE-471 apply needs kind and apiVersion",
    async run(scene) {
      expect((await scene.apply(maps(scene, "a"), { metadata: { name: "a" } })).code).toBe(400);
    },
  },
  {
    name: "CORE-471 apply of a field that the schema does not know is refused",
    async run(scene) {
      const answer = await scene.apply(widgets(scene, "a"), part({ size: 1, unknown: true }));
      expect(answer.code).toBe(500);
      expect(answer.body.message).toContain(".spec.unknown: field not declared in schema");
    },
  },
  {
    name: "CORE-471 applied values are validated",
    async run(scene) {
      const answer = await scene.apply(widgets(scene, "a"), part({ size: 0 }));
      expect(answer.code).toBe(422);
    },
  },
  {
    name: "CORE-471 apply accepts YAML",
    async run(scene) {
      const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
      const answer = await scene.client.request<Obj>("PATCH", `${maps(scene, "a")}?fieldManager=one`, yaml, {
        contentType: APPLY,
      });
      expect(answer.body.data).toEqual({ k: "v" });
    },
  },
  {
    name: "CORE-471 a stale resource version in an applied object is a conflict",
    async run(scene) {
      const first = await applied(scene, maps(scene, "a"), map({ k: "v" }));
      await scene.merge(maps(scene, "a"), { data: { x: "y" } });
      const { resourceVersion } = first.metadata;
      expect((await scene.apply(maps(scene, "a"), map({ k: "w" }, { resourceVersion }), "one")).code).toBe(
        409,
      );
    },
  },
  {
    name: "CORE-471 dry-run apply stores nothing",
    async run(scene) {
      const answer = await scene.client.request<Obj>(
        "PATCH",
        `${maps(scene, "a")}?fieldManager=one&dryRun=All`,
        map({}),
        {
          contentType: APPLY,
        },
      );
      expect(answer.code).toBe(201);
      await scene.refused("GET", maps(scene, "a"), undefined, 404);
    },
  },
  {
    name: "CORE-471 labels and annotations are owned key by key",
    async run(scene) {
      await applied(
        scene,
        maps(scene, "a"),
        map({ k: "v" }, { labels: { a: "1" }, annotations: { a: "1" } }),
        "one",
      );
      await applied(
        scene,
        maps(scene, "a"),
        map({ k: "v" }, { labels: { b: "2" }, annotations: { b: "2" } }),
        "two",
      );
      const less = await applied(scene, maps(scene, "a"), map({ k: "v" }), "one");
      expect(less.metadata).toMatchObject({ labels: { b: "2" }, annotations: { b: "2" } });
      expect(less.metadata.labels).not.toHaveProperty("a");
    },
  },
  {
    name: "CORE-471 without fieldManager the user agent's name is the manager",
    async run(scene) {
      const answer = await scene.client.request<Obj>("POST", maps(scene), configMap("a"), {
        headers: { "user-agent": "my-tool/1.2 (linux)" },
      });
      expect(Object.keys(managed(answer.body))).toEqual(["my-tool Update"]);
    },
  },
];
