/** Watches. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { configMap, pod, WIDGETS, widget } from "./fixtures.testkit.ts";
import type { ConformanceCase, Scene, WatchEvent } from "./scene.testkit.ts";

const maps = (scene: Scene, name?: string): string => scene.at("v1", "configmaps", name);
const widgets = (scene: Scene, name?: string): string => scene.at(WIDGETS, "widgets", name);
const labelled = (name: string, x: string): object => configMap(name, {}, { labels: { x } });
/** A namespace of a full cluster has a ConfigMap of its own: this keeps it out. */
const OWN = "&labelSelector=x";
const STREAM = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

export const WATCH_CASES: readonly ConformanceCase[] = [
  {
    name: "CORE-467 from a resource version: only what came later, in order",
    async run(scene) {
      const first = await scene.create(maps(scene), labelled("a", "1"));
      await scene.create(maps(scene), labelled("b", "1"));
      const watch = scene.watch(maps(scene), `&resourceVersion=${first.metadata.resourceVersion}${OWN}`);
      await scene.merge(maps(scene, "a"), { data: { k: "v" } });
      await scene.remove(maps(scene, "b"));
      const events = await watch.take(3);
      expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
        ["ADDED", "b"],
        ["MODIFIED", "a"],
        ["DELETED", "b"],
      ]);
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
    },
  },
  {
    name: "CORE-467 without resource version the present objects come first, as ADDED",
    async run(scene) {
      await scene.create(maps(scene), labelled("a", "1"));
      await scene.create(maps(scene), labelled("b", "1"));
      const watch = scene.watch(maps(scene), OWN);
      const events = await watch.take(2);
      expect(events.map(({ type, object }) => [type, object.metadata.name]).sort()).toEqual([
        ["ADDED", "a"],
        ["ADDED", "b"],
      ]);
      await scene.create(maps(scene), labelled("c", "1"));
      expect((await watch.next()).object.metadata.name).toBe("c");
    },
  },
  {
    name: "CORE-467 resource version 0 begins with the present objects",
    async run(scene) {
      await scene.create(maps(scene), labelled("a", "1"));
      await scene.list(maps(scene));
      const watch = scene.watch(maps(scene), `&resourceVersion=0${OWN}`);
      expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
    },
  },
  {
    name: "CORE-467 sendInitialEvents: the present objects, a bookmark that says so, then changes",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const watch = scene.watch(widgets(scene), STREAM);
      expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
      const end = await watch.next();
      expect(end).toMatchObject({
        type: "BOOKMARK",
        object: {
          kind: "Widget",
          apiVersion: WIDGETS,
          metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
        },
      });
      expect(end.object.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      await scene.create(widgets(scene), widget("b"));
      expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    },
  },
  {
    name: "CORE-467 sendInitialEvents of an empty collection is the bookmark alone",
    async run(scene) {
      const watch = scene.watch(widgets(scene), STREAM);
      const end = await watch.next();
      expect(end.type).toBe("BOOKMARK");
      const made = await scene.create(widgets(scene), widget("a"));
      expect(Number(end.object.metadata.resourceVersion)).toBeLessThan(Number(made.metadata.resourceVersion));
      expect((await watch.next()).object.metadata.name).toBe("a");
    },
  },
  {
    name: "CORE-467 a watch can go on from the version of the initial bookmark",
    async run(scene) {
      await scene.create(widgets(scene), widget("a"));
      const first = scene.watch(widgets(scene), STREAM);
      const end = await first.until(({ type }) => type === "BOOKMARK");
      first.close();
      await scene.create(widgets(scene), widget("b"));
      const second = scene.watch(widgets(scene), `&resourceVersion=${end.object.metadata.resourceVersion}`);
      expect(await second.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    },
  },
  {
    name: "CORE-467 sendInitialEvents needs resourceVersionMatch",
    async run(scene) {
      const path = `${maps(scene)}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`;
      const refusal = await scene.refused("GET", path, undefined, 422);
      expect(refusal.details?.causes?.[0]?.field).toBe("resourceVersionMatch");
    },
  },
  {
    name: "CORE-467 a label that comes to match is ADDED, one that ceases is DELETED",
    async run(scene) {
      const object = await scene.create(maps(scene), labelled("a", "no"));
      const query = `&labelSelector=x%3Dyes&resourceVersion=${object.metadata.resourceVersion}`;
      const watch = scene.watch(maps(scene), query);
      await scene.merge(maps(scene, "a"), { metadata: { labels: { x: "yes" } } });
      await scene.merge(maps(scene, "a"), { data: { k: "v" } });
      const left = await scene.merge(maps(scene, "a"), { metadata: { labels: { x: "no" } } });
      const events = await watch.take(3);
      expect(events.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
      expect(events[2]!.object).toMatchObject({
        data: { k: "v" },
        metadata: { labels: { x: "yes" }, resourceVersion: left.metadata.resourceVersion },
      });
    },
  },
  {
    name: "CORE-467 deleting what does not match is no event",
    async run(scene) {
      const object = await scene.create(maps(scene), labelled("a", "no"));
      const query = `&labelSelector=x%3Dyes&resourceVersion=${object.metadata.resourceVersion}`;
      const watch = scene.watch(maps(scene), query);
      await scene.remove(maps(scene, "a"));
      await watch.quiet(300);
    },
  },
  {
    name: "CORE-467 a field selector filters events",
    async run(scene) {
      const object = await scene.create(maps(scene), configMap("a"));
      const query = `&fieldSelector=metadata.name%3Db&resourceVersion=${object.metadata.resourceVersion}`;
      const watch = scene.watch(maps(scene), query);
      await scene.merge(maps(scene, "a"), { data: { k: "v" } });
      await scene.create(maps(scene), configMap("b"));
      expect((await watch.next()).object.metadata.name).toBe("b");
    },
  },
  {
    name: "CORE-467 watch=true on a single object is a plain GET",
    async run(scene) {
      await scene.create(maps(scene), configMap("a"));
      expect(await scene.get(`${maps(scene, "a")}?watch=true`)).toMatchObject({
        kind: "ConfigMap",
        data: { a: "1" },
      });
    },
  },
  {
    name: "CORE-467 a watch of all namespaces",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      const watch = scene.watch(
        `/apis/${WIDGETS}/widgets`,
        `&resourceVersion=${object.metadata.resourceVersion}`,
      );
      await scene.create(widgets(scene), widget("b"));
      const event = await watch.until(({ object: seen }) => seen.metadata.namespace === scene.ns);
      expect(event.object.metadata.name).toBe("b");
    },
  },
  {
    name: "CORE-467 another namespace's events are not seen",
    async run(scene) {
      const object = await scene.create("/api/v1/namespaces/default/configmaps", configMap(scene.id));
      const watch = scene.watch(maps(scene), `&resourceVersion=${object.metadata.resourceVersion}${OWN}`);
      await scene.remove(`/api/v1/namespaces/default/configmaps/${scene.id}`);
      await watch.quiet(300);
    },
  },
  {
    name: "CORE-467 timeoutSeconds ends the watch",
    async run(scene) {
      const began = Date.now();
      const watch = scene.watch(maps(scene), `&timeoutSeconds=1${OWN}`);
      await watch.ended();
      expect(Date.now() - began).toBeGreaterThan(900);
      expect(Date.now() - began).toBeLessThan(5000);
    },
  },
  {
    name: "CORE-467 a bookmark comes about 2 s before the end, when something has happened",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      const query = `&timeoutSeconds=4&allowWatchBookmarks=true&resourceVersion=${object.metadata.resourceVersion}`;
      const watch = scene.watch(widgets(scene), query);
      await sleep(300);
      const changed = await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
      expect((await watch.next()).type).toBe("MODIFIED");
      const bookmark = await watch.next();
      expect(bookmark.type).toBe("BOOKMARK");
      expect(Number(bookmark.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(changed.metadata.resourceVersion),
      );
      expect(bookmark.object.metadata.annotations).toBeUndefined();
      await watch.ended();
    },
  },
  {
    name: "CORE-467 a resource version that is no number is refused",
    async run(scene) {
      await scene.refused("GET", `${maps(scene)}?watch=true&resourceVersion=abc`, undefined, 500);
      await scene.refused("GET", `${maps(scene)}?resourceVersion=abc`, undefined, 400);
    },
  },
  {
    name: "CORE-467 metadata-only watch",
    async run(scene) {
      const object = await scene.create(widgets(scene), widget("a"));
      const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
      const path = `${widgets(scene)}?watch=true&timeoutSeconds=1&resourceVersion=${object.metadata.resourceVersion}`;
      const answer = scene.client.request<WatchEvent>("GET", path, undefined, { headers });
      await sleep(200);
      await scene.merge(widgets(scene, "a"), { spec: { size: 2 } });
      const { body } = await answer;
      expect(body).toMatchObject({
        type: "MODIFIED",
        object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } },
      });
      expect(body.object).not.toHaveProperty("spec");
    },
  },
  {
    name: "CORE-467 a pod's status changes are MODIFIED events",
    async run(scene) {
      const path = scene.at("v1", "pods");
      const object = await scene.create(path, pod("a"));
      const watch = scene.watch(path, `&resourceVersion=${object.metadata.resourceVersion}`);
      await scene.merge(`${path}/a/status`, { status: { phase: "Running" } });
      expect(await watch.next()).toMatchObject({
        type: "MODIFIED",
        object: { status: { phase: "Running" } },
      });
    },
  },
  {
    name: "CORE-467 several watchers get the same events",
    async run(scene) {
      const object = await scene.create(maps(scene), labelled("a", "1"));
      const query = `&resourceVersion=${object.metadata.resourceVersion}${OWN}`;
      const watches = [1, 2, 3].map(() => scene.watch(maps(scene), query));
      for (let i = 0; i < 5; i += 1) await scene.merge(maps(scene, "a"), { data: { i: String(i) } });
      const seen = await Promise.all(
        watches.map(async (watch) => (await watch.take(5)).map(({ object: { data } }) => data?.i)),
      );
      for (const values of seen) expect(values).toEqual(["0", "1", "2", "3", "4"]);
    },
  },
  {
    name: "CORE-467 objects in events carry kind and apiVersion",
    async run(scene) {
      const watch = scene.watch(maps(scene), `&labelSelector=x`);
      await scene.create(maps(scene), labelled("a", "1"));
      expect((await watch.next()).object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1" });
    },
  },
];
