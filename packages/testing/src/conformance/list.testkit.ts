/** Lists: pages, versions, selectors, forms. */
import { expect } from "vitest";
import { configMap, pod, WIDGETS, widget } from "./fixtures.testkit.ts";
import type { ConformanceCase, ObjList, Refusal, Scene } from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const names = (list: ObjList): string[] => list.items.map(({ metadata }) => metadata.name);

async function fill(scene: Scene, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await scene.create(widgets(scene), widget(`w-${i}`));
}

/** Names that a selector chooses among four labelled ConfigMaps. */
async function chosen(scene: Scene, selector: string): Promise<string[]> {
  return names(await scene.list(`${maps(scene)}?labelSelector=${encodeURIComponent(`set,${selector}`)}`));
}

const LABELS: Record<string, Record<string, string>> = {
  a: { set: "y", color: "red", size: "1" },
  b: { set: "y", color: "green" },
  c: { set: "y", color: "blue", size: "" },
  d: { set: "y" },
};

async function fillLabelled(scene: Scene): Promise<void> {
  for (const [name, labels] of Object.entries(LABELS))
    await scene.create(maps(scene), configMap(name, {}, { labels }));
}

export const LIST_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-468 a list names its kind; items of a built-in list do not repeat it, custom ones do",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      await scene.create(widgets(scene), widget("w"));
      const builtin = await scene.list(maps(scene));
      expect(builtin).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
      expect(builtin.items[0]!.kind).toBeUndefined();
      const custom = await scene.list(widgets(scene));
      expect(custom).toMatchObject({ kind: "WidgetList", apiVersion: WIDGETS });
      expect(custom.items[0]).toMatchObject({ kind: "Widget", apiVersion: WIDGETS });
    },
  },
  {
    name: "CORE-468 items come in the order of their names",
    async run(scene) {
      for (const name of ["c", "a", "b-1", "b.1", "b"]) await scene.create(widgets(scene), widget(name));
      expect(names(await scene.list(widgets(scene)))).toEqual(["a", "b", "b-1", "b.1", "c"]);
    },
  },
  {
    name: "CORE-468 an empty list is an empty array",
    async run(scene) {
      expect((await scene.list(widgets(scene))).items).toEqual([]);
    },
  },
  {
    name: "CORE-468 pages: limit, continue and remainingItemCount",
    async run(scene) {
      await fill(scene, 5);
      const first = await scene.list(`${widgets(scene)}?limit=2`);
      expect(names(first)).toEqual(["w-0", "w-1"]);
      expect(first.metadata.remainingItemCount).toBe(3);
      const token = encodeURIComponent(first.metadata.continue!);
      const second = await scene.list(`${widgets(scene)}?limit=2&continue=${token}`);
      expect(names(second)).toEqual(["w-2", "w-3"]);
      expect(second.metadata.remainingItemCount).toBe(1);
      const third = await scene.list(
        `${widgets(scene)}?limit=2&continue=${encodeURIComponent(second.metadata.continue!)}`,
      );
      expect(names(third)).toEqual(["w-4"]);
      expect(third.metadata.continue ?? "").toBe("");
      expect(third.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    },
  },
  {
    name: "CORE-468 later pages show the state of the first",
    async run(scene) {
      await fill(scene, 4);
      const first = await scene.list(`${widgets(scene)}?limit=2`);
      await scene.remove(widgets(scene, "w-2"));
      await scene.create(widgets(scene), widget("w-9"));
      await scene.merge(widgets(scene, "w-3"), { spec: { size: 50 } });
      const rest = await scene.list(
        `${widgets(scene)}?continue=${encodeURIComponent(first.metadata.continue!)}`,
      );
      expect(names(rest)).toEqual(["w-2", "w-3"]);
      expect(rest.items[1]!.spec?.size).toBe(1);
    },
  },
  {
    name: "CORE-468 with a selector there is no remainingItemCount",
    async run(scene) {
      await fillLabelled(scene);
      const list = await scene.list(`${maps(scene)}?limit=1&labelSelector=set`);
      expect(list.metadata.continue).toBeDefined();
      expect(list.metadata.remainingItemCount).toBeUndefined();
    },
  },
  {
    name: "CORE-468 a list of exactly the limit has no next page",
    async run(scene) {
      await fill(scene, 2);
      expect((await scene.list(`${widgets(scene)}?limit=2`)).metadata.continue ?? "").toBe("");
    },
  },
  {
    name: "CORE-468 a broken continue token is refused",
    async run(scene) {
      await scene.refused("GET", `${widgets(scene)}?limit=2&continue=nonsense`, undefined, 400);
    },
  },
  {
    name: "CORE-163 CORE-468 resourceVersion=0 ignores the limit",
    async run(scene) {
      await fill(scene, 3);
      await scene.eventually(async () => {
        const list = await scene.list(`${widgets(scene)}?resourceVersion=0&limit=1`);
        return list.items.length === 3 && (list.metadata.continue ?? "") === "" ? true : undefined;
      });
    },
  },
  {
    name: "CORE-468 resourceVersionMatch=Exact shows the state of then",
    async run(scene) {
      await fill(scene, 1);
      const then = (await scene.list(widgets(scene))).metadata.resourceVersion;
      await scene.merge(widgets(scene, "w-0"), { spec: { size: 7 } });
      await scene.create(widgets(scene), widget("w-1"));
      const list = await scene.list(`${widgets(scene)}?resourceVersion=${then}&resourceVersionMatch=Exact`);
      expect(names(list)).toEqual(["w-0"]);
      expect(list.items[0]!.spec?.size).toBe(1);
      expect(list.metadata.resourceVersion).toBe(then);
    },
  },
  {
    name: "CORE-468 resourceVersionMatch=NotOlderThan shows a state at least as new",
    async run(scene) {
      await fill(scene, 1);
      const changed = await scene.merge(widgets(scene, "w-0"), { spec: { size: 7 } });
      const version = changed.metadata.resourceVersion;
      const list = await scene.list(
        `${widgets(scene)}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      );
      expect(list.items[0]!.spec?.size).toBe(7);
    },
  },
  {
    name: "CORE-468 resourceVersionMatch needs a resource version",
    async run(scene) {
      const refusal = await scene.refused("GET", `${maps(scene)}?resourceVersionMatch=Exact`, undefined, 422);
      expect(refusal.details?.causes?.[0]?.field).toBe("resourceVersionMatch");
    },
  },
  {
    name: "CORE-167 a resource version of the future is 504 with a cause and a time to retry",
    async run(scene) {
      const future = Number((await scene.list(widgets(scene))).metadata.resourceVersion) + 100_000;
      const path = `${widgets(scene)}?resourceVersion=${future}&resourceVersionMatch=NotOlderThan`;
      const refusal = await scene.refused("GET", path, undefined, 504);
      expect(refusal).toMatchObject({
        reason: "Timeout",
        message: expect.stringContaining(`Too large resource version: ${future}, current: `),
        details: { retryAfterSeconds: 1, causes: [{ reason: "ResourceVersionTooLarge" }] },
      });
    },
  },
  {
    name: "CORE-468 label selectors: equality",
    async run(scene) {
      await fillLabelled(scene);
      expect(await chosen(scene, "color=red")).toEqual(["a"]);
      expect(await chosen(scene, "color==green")).toEqual(["b"]);
      expect(await chosen(scene, "color!=red")).toEqual(["b", "c", "d"]);
      expect(await chosen(scene, "size=")).toEqual(["c"]);
    },
  },
  {
    name: "CORE-468 label selectors: sets",
    async run(scene) {
      await fillLabelled(scene);
      expect(await chosen(scene, "color in (red,blue)")).toEqual(["a", "c"]);
      expect(await chosen(scene, "color notin (red, blue)")).toEqual(["b", "d"]);
    },
  },
  {
    name: "CORE-468 label selectors: existence",
    async run(scene) {
      await fillLabelled(scene);
      expect(await chosen(scene, "size")).toEqual(["a", "c"]);
      expect(await chosen(scene, "!size")).toEqual(["b", "d"]);
      expect(await chosen(scene, "size,color!=red")).toEqual(["c"]);
    },
  },
  {
    name: "CORE-468 a label selector that makes no sense is refused",
    async run(scene) {
      for (const selector of ["a in", "=b", "a in (b", "a b"]) {
        await scene.refused(
          "GET",
          `${maps(scene)}?labelSelector=${encodeURIComponent(selector)}`,
          undefined,
          400,
        );
      }
    },
  },
  {
    name: "CORE-468 field selectors metadata.name and metadata.namespace",
    async run(scene) {
      await fill(scene, 2);
      expect(names(await scene.list(`${widgets(scene)}?fieldSelector=metadata.name%3Dw-1`))).toEqual(["w-1"]);
      expect(names(await scene.list(`${widgets(scene)}?fieldSelector=metadata.name!%3Dw-1`))).toEqual([
        "w-0",
      ]);
      const all = `/apis/${WIDGETS}/widgets?fieldSelector=metadata.namespace%3D${scene.ns}`;
      expect(names(await scene.list(all))).toEqual(["w-0", "w-1"]);
    },
  },
  {
    name: "CORE-468 field selectors of pods",
    async run(scene) {
      const path = scene.at("v1", "pods");
      await scene.create(path, pod("a", { nodeName: "no-such-node" }));
      await scene.create(path, pod("b"));
      await scene.merge(`${path}/b/status`, { status: { phase: "Succeeded" } });
      expect(names(await scene.list(`${path}?fieldSelector=spec.nodeName%3Dno-such-node`))).toEqual(["a"]);
      expect(names(await scene.list(`${path}?fieldSelector=spec.nodeName%3D`))).toEqual(["b"]);
      expect(names(await scene.list(`${path}?fieldSelector=status.phase%3DSucceeded`))).toEqual(["b"]);
      expect(names(await scene.list(`${path}?fieldSelector=status.phase!%3DSucceeded`))).toEqual(["a"]);
      await scene.remove(`${path}/a`, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "CORE-468 selectableFields of a CRD",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", { color: "green" }));
      await scene.create(widgets(scene), widget("b"));
      expect(names(await scene.list(`${widgets(scene)}?fieldSelector=spec.color%3Dgreen`))).toEqual(["a"]);
    },
  },
  {
    name: "CORE-468 an unknown field selector is refused",
    async run(scene) {
      for (const path of [maps(scene), widgets(scene), scene.at("v1", "pods")]) {
        const refusal = await scene.refused("GET", `${path}?fieldSelector=spec.nosuch%3Dx`, undefined, 400);
        expect(refusal.message).toContain("spec.nosuch");
      }
    },
  },
  {
    name: "CORE-468 a list of all namespaces holds them all",
    async run(scene) {
      await fill(scene, 1);
      const list = await scene.list(`/apis/${WIDGETS}/widgets`);
      expect(list.items.some(({ metadata }) => metadata.namespace === scene.ns)).toBe(true);
    },
  },
  {
    name: "CORE-178 metadata-only list",
    async run(scene) {
      await fill(scene, 1);
      const headers = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };
      const list = (await scene.client.request<ObjList>("GET", widgets(scene), undefined, { headers })).body;
      expect(list).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
      expect(list.items[0]!.metadata.name).toBe("w-0");
      expect(list.items[0]).not.toHaveProperty("spec");
    },
  },
  {
    name: "CORE-474 table of a custom resource with its printer columns",
    async run(scene) {
      await scene.create(widgets(scene), widget("a", { size: 5 }));
      const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
      const { body } = await scene.client.request("GET", widgets(scene), undefined, { headers });
      expect(body).toMatchObject({
        kind: "Table",
        apiVersion: "meta.k8s.io/v1",
        columnDefinitions: [
          { name: "Name", type: "string", format: "name" },
          { name: "Size", type: "integer" },
          { name: "Phase", type: "string" },
        ],
        rows: [
          {
            cells: ["a", 5, null],
            object: { kind: "PartialObjectMetadata", metadata: { name: "a", namespace: scene.ns } },
          },
        ],
      });
    },
  },
  {
    name: "CORE-474 table of ConfigMaps",
    async run(scene) {
      await scene.create(maps(scene), configMap("a", { x: "1", y: "2" }, { labels: { own: "y" } }));
      const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
      const path = `${maps(scene)}?labelSelector=own`;
      const { body } = await scene.client.request("GET", path, undefined, { headers });
      expect(body).toMatchObject({
        columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }],
        rows: [{ cells: ["a", 2, expect.stringMatching(/^\d+s$/)] }],
      });
    },
  },
  {
    name: "CORE-468 an unacceptable Accept header is 406",
    async run(scene) {
      const answer = await scene.client.request<Refusal>("GET", maps(scene), undefined, {
        headers: { accept: "text/html" },
      });
      expect(answer.code).toBe(406);
    },
  },
];
