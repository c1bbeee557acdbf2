/** Custom resource definitions and what they make of objects. */
import { expect } from "vitest";
import { CRDS, crd, untilServed, WIDGETS, widget } from "./fixtures.testkit.ts";
import type { ConformanceCase, Obj, Scene } from "./scene.testkit.ts";

const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);

/** The causes of a refused widget, without the one that says that CEL rules were not run. */
async function causes(
  scene: Scene,
  spec: object,
): Promise<{ reason?: string; field?: string; message: string }[]> {
  const refusal = await scene.refused("POST", widgets(scene), widget("bad", spec), 422);
  expect(refusal.reason).toBe("Invalid");
  return (refusal.details?.causes ?? []).filter(({ field }) => field !== "<nil>");
}

const thing = (groupVersion: string, spec: object, name = "x"): object => ({
  apiVersion: groupVersion,
  kind: "Thing",
  metadata: { name },
  spec,
});

interface Condition {
  type: string;
  status: string;
}

/** Installs a CRD in a group of its own, waits for it, and removes it after the case. */
async function withCrd(
  scene: Scene,
  options: { schema: object; version?: object; spec?: object },
  use: (path: (name?: string) => string, groupVersion: string) => Promise<void>,
): Promise<void> {
  const group = `${scene.id}.quartet.io`;
  const name = `things.${group}`;
  await scene.create(CRDS, crd({ plural: "things", kind: "Thing", group, ...options }));
  try {
    await untilServed(scene.client, `${group}/v1`, "things");
    await use((object) => scene.at(`${group}/v1`, "things", object), `${group}/v1`);
  } finally {
    await scene.remove(`${CRDS}/${name}`);
  }
}

const spec = (properties: object, more: object = {}): object => ({
  type: "object",
  properties: { spec: { type: "object", properties, ...more } },
});

export const CRD_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-469 unknown fields are pruned",
    async run(scene) {
      const body = { ...(widget("a", { unknown: 1 }) as Obj), other: true };
      const made = await scene.create(widgets(scene), body);
      expect(made.spec).not.toHaveProperty("unknown");
      expect(made).not.toHaveProperty("other");
    },
  },
  {
    name: "CORE-469 unknown metadata fields are dropped",
    async run(scene) {
      const made = await scene.create(widgets(scene), widget("a", {}, { futureField: "x" }));
      expect(made.metadata).not.toHaveProperty("futureField");
    },
  },
  {
    name: "CORE-469 x-kubernetes-preserve-unknown-fields keeps everything below",
    async run(scene) {
      const free = { any: { thing: [1, 2.5, null, { x: "y" }] }, __proto__x: 1 };
      const made = await scene.create(widgets(scene), widget("a", { free }));
      expect(made.spec?.free).toEqual(free);
      expect((await scene.get(widgets(scene, "a"))).spec?.free).toEqual(free);
    },
  },
  {
    name: "CORE-469 additionalProperties allow any key",
    async run(scene) {
      const made = await scene.create(widgets(scene), widget("a", { labels: { x: "1", "y/z": "2" } }));
      expect(made.spec?.labels).toEqual({ x: "1", "y/z": "2" });
      expect(await causes(scene, { labels: { x: 1 } })).toMatchObject([{ field: "spec.labels.x" }]);
    },
  },
  {
    name: "CORE-469 defaults are filled in, nested ones too",
    async run(scene) {
      const made = await scene.create(widgets(scene), widget("a", { parts: [{ name: "p" }] }));
      expect(made.spec).toEqual({
        size: 1,
        color: "red",
        nested: { level: 3 },
        parts: [{ name: "p", note: "none" }],
      });
    },
  },
  {
    name: "CORE-469 null of a non-nullable field with default becomes the default",
    async run(scene) {
      const made = await scene.create(widgets(scene), widget("a", { color: null, nested: { level: null } }));
      expect(made.spec).toMatchObject({ color: "red", nested: { level: 3 } });
    },
  },
  {
    name: "CORE-469 null of a non-nullable field without default is dropped, null of a nullable one is kept",
    async run(scene) {
      const made = await scene.create(widgets(scene), widget("a", { text: null, maybe: null }));
      expect(made.spec).not.toHaveProperty("text");
      expect(made.spec?.maybe).toBeNull();
    },
  },
  {
    name: "CORE-469 a required field must be there",
    async run(scene) {
      const refusal = await scene.refused("POST", widgets(scene), { ...widget("a"), spec: {} }, 422);
      expect(refusal.message).toContain(
        'Widget.conformance.quartet.io "a" is invalid: [spec.size: Required value, ',
      );
      expect(refusal.details).toMatchObject({
        name: "a",
        group: "conformance.quartet.io",
        kind: "Widget",
        causes: [
          { reason: "FieldValueRequired", message: "Required value", field: "spec.size" },
          { field: "<nil>", message: expect.stringContaining("some validation rules were not checked") },
        ],
      });
      const { spec: _spec, ...bare } = widget("a") as Obj;
      const none = await scene.refused("POST", widgets(scene), bare, 422);
      expect(none.details?.causes?.[0]?.field).toBe("spec");
    },
  },
  {
    name: "CORE-469 a value has the type of the schema",
    async run(scene) {
      expect(await causes(scene, { low: "1" })).toEqual([
        {
          reason: "FieldValueTypeInvalid",
          field: "spec.low",
          message: 'Invalid value: "string": spec.low in body must be of type integer: "string"',
        },
      ]);
      expect(await causes(scene, { text: 5 })).toMatchObject([{ field: "spec.text" }]);
      expect(await causes(scene, { flag: "true" })).toMatchObject([{ field: "spec.flag" }]);
      expect(await causes(scene, { names: "x" })).toMatchObject([{ field: "spec.names" }]);
      expect(await causes(scene, { nested: [] })).toMatchObject([{ field: "spec.nested" }]);
    },
  },
  {
    name: "CORE-469 a number field takes integers and fractions",
    async run(scene) {
      expect((await scene.create(widgets(scene), widget("a", { ratio: 2 }))).spec?.ratio).toBe(2);
      expect((await scene.create(widgets(scene), widget("b", { ratio: 2.5 }))).spec?.ratio).toBe(2.5);
    },
  },
  {
    name: "CORE-469 minimum and maximum",
    async run(scene) {
      expect(await causes(scene, { size: 0 })).toEqual([
        {
          reason: "FieldValueInvalid",
          field: "spec.size",
          message: "Invalid value: 0: spec.size in body should be greater than or equal to 1",
        },
      ]);
      expect(await causes(scene, { size: 101 })).toMatchObject([
        { message: "Invalid value: 101: spec.size in body should be less than or equal to 100" },
      ]);
    },
  },
  {
    name: "CORE-469 minLength and maxLength",
    async run(scene) {
      expect(await causes(scene, { text: "x" })).toMatchObject([
        { message: 'Invalid value: "x": spec.text in body should be at least 2 chars long' },
      ]);
      expect(await causes(scene, { text: "xxxxxx" })).toMatchObject([
        { reason: "FieldValueTooLong", field: "spec.text" },
      ]);
      // characters count, not bytes
      await scene.create(widgets(scene), widget("a", { text: "äöüßé" }));
    },
  },
  {
    name: "CORE-469 pattern",
    async run(scene) {
      expect(await causes(scene, { code: "A1" })).toEqual([
        {
          reason: "FieldValueInvalid",
          field: "spec.code",
          message: "Invalid value: \"A1\": spec.code in body should match '^[a-z]+$'",
        },
      ]);
    },
  },
  {
    name: "CORE-469 enum",
    async run(scene) {
      expect(await causes(scene, { color: "blue" })).toEqual([
        {
          reason: "FieldValueNotSupported",
          field: "spec.color",
          message: 'Unsupported value: "blue": supported values: "red", "green"',
        },
      ]);
    },
  },
  {
    name: "CORE-469 formats",
    async run(scene) {
      expect(await causes(scene, { when: "yesterday" })).toMatchObject([{ field: "spec.when" }]);
      await scene.create(widgets(scene), widget("a", { when: "2024-05-06T07:08:09Z" }));
    },
  },
  {
    name: "CORE-469 x-kubernetes-int-or-string takes both and nothing else",
    async run(scene) {
      expect((await scene.create(widgets(scene), widget("a", { port: 80 }))).spec?.port).toBe(80);
      expect((await scene.create(widgets(scene), widget("b", { port: "http" }))).spec?.port).toBe("http");
      expect(await causes(scene, { port: true })).toMatchObject([{ field: "spec.port" }]);
    },
  },
  {
    name: "CORE-469 a set holds each element once",
    async run(scene) {
      expect(await causes(scene, { names: ["x", "x"] })).toMatchObject([
        { reason: "FieldValueDuplicate", field: "spec.names[1]", message: 'Duplicate value: "x"' },
      ]);
    },
  },
  {
    name: "CORE-469 a keyed list holds each key once",
    async run(scene) {
      expect(await causes(scene, { parts: [{ name: "x" }, { name: "x" }] })).toMatchObject([
        { reason: "FieldValueDuplicate", field: "spec.parts[1]" },
      ]);
    },
  },
  {
    name: "CORE-469 maxItems",
    async run(scene) {
      expect(await causes(scene, { atoms: ["a", "b", "c", "d"] })).toMatchObject([
        { reason: "FieldValueTooMany", field: "spec.atoms" },
      ]);
    },
  },
  {
    name: "CORE-469 all findings are reported at once",
    async run(scene) {
      const found = await causes(scene, { size: 0, code: "A", color: "blue" });
      expect(found.map(({ field }) => field).sort()).toEqual(["spec.code", "spec.color", "spec.size"]);
    },
  },
  {
    name: "CORE-469 an embedded resource keeps its apiVersion, kind and metadata",
    async run(scene) {
      const embedded = { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, other: 1 };
      const made = await scene.create(widgets(scene), widget("a", { pod: embedded }));
      expect(made.spec?.pod).toEqual({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } });
    },
  },
  {
    name: "CORE-469 a CEL rule refuses with its message",
    async run(scene) {
      expect(await causes(scene, { low: 5, high: 1 })).toMatchObject([
        {
          reason: "FieldValueInvalid",
          field: "spec",
          message: expect.stringContaining("low must not exceed high"),
        },
      ]);
      await scene.create(widgets(scene), widget("a", { low: 1, high: 5 }));
    },
  },
  {
    name: "CORE-469 a CEL transition rule sees the old value",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", { fixed: "x" }));
      const patch = { spec: { fixed: "y" } };
      const refusal = await scene.refused(
        "PATCH",
        widgets(scene, "a"),
        patch,
        422,
        "application/merge-patch+json",
      );
      expect(refusal.details?.causes).toMatchObject([
        { field: "spec.fixed", message: expect.stringContaining("fixed is immutable") },
      ]);
    },
  },
  {
    name: "CORE-469 an update is validated too",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const patch = { spec: { size: 0 } };
      const refusal = await scene.refused(
        "PATCH",
        widgets(scene, "a"),
        patch,
        422,
        "application/merge-patch+json",
      );
      expect(refusal.details?.causes).toMatchObject([{ field: "spec.size" }]);
    },
  },
  {
    name: "CORE-469 a new CRD becomes Established with its names accepted",
    async run(scene) {
      await withCrd(scene, { schema: spec({}) }, async (_path, groupVersion) => {
        const name = `things.${groupVersion.split("/")[0]}`;
        const conditions = await scene.eventually(async () => {
          const { status } = await scene.get(`${CRDS}/${name}`);
          const list = status?.conditions as Condition[] | undefined;
          return list?.some(({ type, status: value }) => type === "Established" && value === "True")
            ? status
            : undefined;
        });
        expect(conditions).toMatchObject({
          storedVersions: ["v1"],
          acceptedNames: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
          conditions: expect.arrayContaining([
            expect.objectContaining({ type: "NamesAccepted", status: "True" }),
          ]),
        });
      });
    },
  },
  {
    name: "CORE-469 a CRD's name is plural and group",
    async run(scene) {
      const body = crd({ plural: "things", kind: "Thing", schema: spec({}) }) as Obj;
      const refusal = await scene.refused(
        "POST",
        CRDS,
        { ...body, metadata: { name: "wrong.quartet.io" } },
        422,
      );
      expect(refusal.message).toContain('must be spec.names.plural+"."+spec.group');
    },
  },
  {
    name: "CORE-469 a schema must be structural",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      const schemas = [
        { properties: { spec: { type: "object" } } },
        { type: "object", properties: { spec: {} } },
        { type: "object", properties: { list: { type: "array" } } },
      ];
      for (const schema of schemas) {
        const refusal = await scene.refused(
          "POST",
          CRDS,
          crd({ plural: "things", kind: "Thing", group, schema }),
          422,
        );
        expect(refusal.details?.causes?.[0]?.field).toContain("spec.validation.openAPIV3Schema");
      }
    },
  },
  {
    name: "CORE-469 exactly one version is the storage version",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      const body = crd({
        plural: "things",
        kind: "Thing",
        group,
        schema: spec({}),
        version: { storage: false },
      });
      const refusal = await scene.refused("POST", CRDS, body, 422);
      expect(refusal.message).toContain("must have exactly one version marked as storage version");
    },
  },
  {
    name: "CORE-469 an invalid default is refused",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      const schema = spec({ size: { type: "integer", default: "many" } });
      const refusal = await scene.refused(
        "POST",
        CRDS,
        crd({ plural: "things", kind: "Thing", group, schema }),
        422,
      );
      expect(refusal.details?.causes?.[0]?.field).toContain("properties[spec].properties[size].default");
    },
  },
  {
    name: "CORE-469 a CEL rule that does not compile is refused",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      const schema = spec(
        { a: { type: "string" } },
        { "x-kubernetes-validations": [{ rule: "self.nosuch == 1" }] },
      );
      const refusal = await scene.refused(
        "POST",
        CRDS,
        crd({ plural: "things", kind: "Thing", group, schema }),
        422,
      );
      expect(refusal.details?.causes?.[0]?.field).toContain("x-kubernetes-validations[0].rule");
    },
  },
  {
    name: "CORE-469 objects of another version of the same kind are the same objects",
    async run(scene) {
      const schema = spec({ a: { type: "string" } });
      const group = `${scene.id}.quartet.io`;
      const versions = ["v1", "v1beta1"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema: schema },
      }));
      await withCrd(scene, { schema, spec: { versions } }, async (path, groupVersion) => {
        await untilServed(scene.client, `${group}/v1beta1`, "things");
        await scene.create(path(), thing(groupVersion, { a: "1" }));
        const other = await scene.get(scene.at(`${group}/v1beta1`, "things", "x"));
        expect(other).toMatchObject({ apiVersion: `${group}/v1beta1`, kind: "Thing", spec: { a: "1" } });
      });
    },
  },
  {
    name: "CORE-469 an unserved version is not found",
    async run(scene) {
      const schema = spec({});
      const group = `${scene.id}.quartet.io`;
      const versions = [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } },
        { name: "v2", served: false, storage: false, schema: { openAPIV3Schema: schema } },
      ];
      await withCrd(scene, { schema, spec: { versions } }, async () => {
        await scene.refused("GET", scene.at(`${group}/v2`, "things"), undefined, 404);
      });
    },
  },
  {
    name: "CORE-469 defaults added later show when stored objects are read",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(scene, { schema: spec({ a: { type: "string" } }) }, async (path, groupVersion) => {
        await scene.create(path(), thing(groupVersion, {}));
        const schema = spec({ a: { type: "string", default: "later" } });
        const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
        await scene.merge(`${CRDS}/things.${group}`, { spec: { versions } });
        const read = await scene.eventually(async () => {
          const object = await scene.get(path("x"));
          return object.spec?.a === undefined ? undefined : object;
        });
        expect(read.spec).toEqual({ a: "later" });
      });
    },
  },
  {
    name: "CORE-469 two kinds of one group cannot have the same names",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(scene, { schema: spec({}) }, async () => {
        const names = { plural: "others", singular: "thing", kind: "Other" };
        await scene.create(
          CRDS,
          crd({ plural: "others", kind: "Other", group, schema: spec({}), spec: { names } }),
        );
        const conditions = await scene.eventually(async () => {
          const { status } = await scene.get(`${CRDS}/others.${group}`);
          const list = status?.conditions as Condition[] | undefined;
          return list?.some(({ type }) => type === "NamesAccepted") ? list : undefined;
        });
        expect(conditions.find(({ type }) => type === "NamesAccepted")?.status).toBe("False");
        await scene.remove(`${CRDS}/others.${group}`);
      });
    },
  },
  {
    name: "CORE-469 deleting a CRD deletes its objects and ends its kind",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(scene, { schema: spec({}) }, async (path, groupVersion) => {
        await scene.create(path(), thing(groupVersion, {}));
        const crdPath = `${CRDS}/things.${group}`;
        await scene.remove(crdPath);
        await scene.eventually(async () =>
          (await scene.client.request("GET", crdPath)).code === 404 ? true : undefined,
        );
        await scene.eventually(async () =>
          (await scene.client.request("GET", path("x"))).code === 404 ? true : undefined,
        );
        await scene.create(CRDS, crd({ plural: "things", kind: "Thing", group, schema: spec({}) }));
        await untilServed(scene.client, `${group}/v1`, "things");
        expect((await scene.list(path())).items).toEqual([]);
      });
    },
  },
  {
    name: "CORE-469 CORE-173 removing a CRD deletes its objects before the eyes of a watch, ends it, and then it is 404",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(scene, { schema: spec({}) }, async (path, groupVersion) => {
        const object = await scene.create(path(), thing(groupVersion, {}));
        const watch = scene.watch(path(), `&resourceVersion=${object.metadata.resourceVersion}`);
        await scene.remove(`${CRDS}/things.${group}`);
        expect((await watch.until(({ type }) => type === "DELETED")).object.metadata.name).toBe("x");
        await watch.ended();
        await scene.eventually(async () =>
          (await scene.client.request("GET", path())).code === 404 ? true : undefined,
        );
        await scene.create(CRDS, crd({ plural: "things", kind: "Thing", group, schema: spec({}) }));
        await untilServed(scene.client, groupVersion, "things");
      });
    },
  },
  {
    name: "CORE-469 a change of its schema ends the watches of a kind, labels do not",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(scene, { schema: spec({}) }, async (path, groupVersion) => {
        const object = await scene.create(path(), thing(groupVersion, {}));
        const watch = scene.watch(path(), `&resourceVersion=${object.metadata.resourceVersion}`);
        await scene.merge(`${CRDS}/things.${group}`, { metadata: { labels: { x: "y" } } });
        await watch.quiet(300);
        await scene.merge(path("x"), { metadata: { labels: { seen: "yes" } } });
        expect((await watch.next()).type).toBe("MODIFIED");
        const schema = spec({ a: { type: "string" } });
        const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
        await scene.merge(`${CRDS}/things.${group}`, { spec: { versions } });
        await watch.ended();
      });
    },
  },
  {
    name: "CORE-469 an object that a newer schema refuses may keep its old fault",
    async run(scene) {
      const group = `${scene.id}.quartet.io`;
      await withCrd(
        scene,
        { schema: spec({ a: { type: "integer" }, b: { type: "string" } }) },
        async (path, groupVersion) => {
          await scene.create(path(), thing(groupVersion, { a: 5 }));
          const schema = spec({ a: { type: "integer", maximum: 3 }, b: { type: "string" } });
          const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
          await scene.merge(`${CRDS}/things.${group}`, { spec: { versions } });
          await scene.eventually(async () => {
            const probe = thing(groupVersion, { a: 5 }, "probe");
            return (await scene.client.request("POST", `${path()}?dryRun=All`, probe)).code === 422
              ? true
              : undefined;
          });
          const updated = await scene.merge(path("x"), { spec: { b: "new" } });
          expect(updated.spec).toEqual({ a: 5, b: "new" });
          await scene.refused("PATCH", path("x"), { spec: { a: 6 } }, 422, "application/merge-patch+json");
        },
      );
    },
  },
  {
    name: "CORE-469 a deprecated version answers with a warning",
    async run(scene) {
      const version = { deprecated: true, deprecationWarning: "use v2" };
      await withCrd(scene, { schema: spec({}), version }, async (path, groupVersion) => {
        const answer = await scene.client.request("POST", path(), thing(groupVersion, {}));
        expect(answer.headers.warning).toContain('299 - "use v2"');
      });
    },
  },
  {
    name: "CORE-469 int32 and int64 formats",
    async run(scene) {
      const schema = spec({ a: { type: "integer", format: "int32" } });
      await withCrd(scene, { schema }, async (path, groupVersion) => {
        await scene.refused("POST", path(), thing(groupVersion, { a: 2_147_483_648 }), 422);
        await scene.create(path(), thing(groupVersion, { a: 2_147_483_647 }));
      });
    },
  },
  {
    name: "CORE-469 anyOf, oneOf, allOf and not",
    async run(scene) {
      const schema = spec(
        { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer", not: { enum: [7] } } },
        { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      );
      await withCrd(scene, { schema }, async (path, groupVersion) => {
        await scene.refused("POST", path(), thing(groupVersion, {}), 422);
        await scene.refused("POST", path(), thing(groupVersion, { a: 1, b: 2 }), 422);
        await scene.refused("POST", path(), thing(groupVersion, { a: 1, c: 7 }), 422);
        await scene.create(path(), thing(groupVersion, { a: 1, c: 8 }));
      });
    },
  },
];
