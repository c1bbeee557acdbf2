import { describe, expect, it } from "vitest";
import type { Cache, Informer, SetAside } from "../cache/types.ts";
import type { ClientHooks, WriteInfo } from "../client/types.ts";
import type { Controller } from "../controller/types.ts";
import { defineKind, type KubeObject } from "../object.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { explain } from "./explain.ts";
import { changedPaths, createWriteJournal, type WriteJournal } from "./write-journal.ts";

const sets = defineKind({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
});
const object = (spec: object, more: object = {}): KubeObject & { spec: object } => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "x", namespace: "n", resourceVersion: "1", ...more },
  spec,
});
const info: WriteInfo = { verb: "apply", kind: sets, key: { namespace: "n", name: "x" }, dryRun: false };

function cacheOf(...informers: Informer[]): Pick<Cache, "informers"> {
  const informersOf: Cache["informers"] = (kind) =>
    informers.filter((one) => kind === undefined || one.kind.plural === kind.plural);
  return { informers: informersOf };
}

function start(cached?: KubeObject): {
  journal: WriteJournal;
  cache: Pick<Cache, "informers">;
  setKey(key?: string): void;
} {
  const informer = {
    kind: sets,
    state: "synced",
    get: () => cached,
    list: () => [cached],
    setAside: () => [],
  } as unknown as Informer;
  const cache = cacheOf(informer);
  let key: string | undefined;
  const journal = createWriteJournal(cache, fakeClock(), () => key);
  return { journal, cache, setKey: (next) => (key = next) };
}

function write(hooks: ClientHooks, written: WriteInfo, answer: KubeObject | undefined): void {
  hooks.beforeWrite!(written);
  hooks.afterWrite!(written, answer);
}

describe("journal of writes", () => {
  it("tells what was written for an object and which fields that changed, but no value", () => {
    const { journal, setKey } = start(object({ replicas: 1, template: { image: "a" } }));
    setKey("n/cr");
    const hooks = journal.hooks("nacos");
    write(hooks, info, object({ replicas: 3, template: { image: "hunter2" } }, { resourceVersion: "2" }));
    write(hooks, { ...info, verb: "patch", subresource: "status" }, undefined);
    expect(journal.entries("nacos", "n/cr")).toEqual([
      { at: "2026-01-01T00:00:00.000Z", write: "patch statefulsets.apps/status n/x", changed: [] },
      {
        at: "2026-01-01T00:00:00.000Z",
        write: "apply statefulsets.apps n/x",
        changed: ["spec.replicas", "spec.template.image"],
      },
    ]);
    expect(JSON.stringify(journal.entries("nacos", "n/cr"))).not.toContain("hunter2");
    expect(journal.entries("tars", "n/cr")).toEqual([]);
  });

  it("keeps the last 10 writes of an object and nothing of writes outside of a reconcile", () => {
    const { journal, setKey } = start();
    const hooks = journal.hooks("nacos");
    write(hooks, info, object({}));
    setKey("n/cr");
    for (let index = 0; index < 15; index++) {
      write(hooks, { ...info, key: { namespace: "n", name: `x${index}` } }, object({}));
    }
    const entries = journal.entries("nacos", "n/cr");
    expect(entries).toHaveLength(10);
    expect(entries[0]).toMatchObject({ write: "apply statefulsets.apps n/x14", changed: ["(new)"] });
  });

  it("compares with the object from before the write, though the watch was faster than the answer", () => {
    const { journal, cache, setKey } = start(object({ replicas: 1 }));
    setKey("n/cr");
    const hooks = journal.hooks("nacos");
    const answer = object({ replicas: 3 });
    const written = { ...info };
    hooks.beforeWrite!(written);
    Object.assign(cache.informers()[0]!, { get: () => answer });
    hooks.afterWrite!(written, answer);
    expect(journal.entries("nacos", "n/cr")).toMatchObject([{ changed: ["spec.replicas"] }]);
  });

  it("leaves events out, which would push out what they tell of", () => {
    const { journal, setKey } = start();
    setKey("n/cr");
    const event = { ...sets, group: "events.k8s.io", kind: "Event", plural: "events" };
    write(journal.hooks("nacos"), { ...info, verb: "create", kind: defineKind(event) }, object({}));
    expect(journal.entries("nacos", "n/cr")).toEqual([]);
  });

  it("keeps at most 1 000 objects", () => {
    const { journal, setKey } = start();
    const hooks = journal.hooks("nacos");
    for (let index = 0; index < 1_001; index++) {
      setKey(`n/${index}`);
      write(hooks, info, object({}));
    }
    expect(journal.entries("nacos", "n/0")).toEqual([]);
    expect(journal.entries("nacos", "n/1")).toHaveLength(1);
  });

  it("shows lists as a whole, removals, and at most 20 fields", () => {
    expect(changedPaths(object({ list: [1], gone: 1 }), object({ list: [1, 2] }))).toEqual([
      "spec.list",
      "spec.gone",
    ]);
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${index}`, index]));
    expect(changedPaths(object({}), object(many))).toHaveLength(21);
    expect(changedPaths(object({}), object(many)).at(-1)).toBe("and 5 more");
  });
});

describe("explain", () => {
  const nacos = defineKind({ ...sets, group: "nacos.io", kind: "Nacos", plural: "nacos" });
  const controller = {
    name: "nacos",
    sources: [{ role: "for", kind: nacos, options: {} }],
    explain: () => ({ state: "Running" }),
  } as unknown as Controller;

  it.each(["nacos", "Nacos", "NACOS", "nacos.nacos.io"])("finds a controller by %s", (kind) => {
    const { journal, cache } = start(object({}));
    expect(explain(kind, "n/cr", { controllers: [controller], cache, journal, leader: true })).toEqual({
      leader: true,
      controllers: [{ object: { found: false }, state: "Running", lastWrites: [] }],
      caches: [{ kind: "StatefulSet.v1.apps", state: "synced", objects: 1 }],
    });
  });

  it("names those that there are when it finds none", () => {
    const { journal, cache } = start(object({}));
    const server = { ...controller, name: "tars" } as Controller;
    expect(explain("pods", "n/x", { controllers: [controller, server], cache, journal, leader: true })).toBe(
      'no controller works on "pods": name one of Nacos, tars (Nacos)',
    );
  });

  let aside: SetAside[] = [];
  /** The answer for an object in the cache, which holds further informers. */
  const explained = (cached: KubeObject | undefined, ...more: Informer[]): Record<string, unknown> => {
    const { journal } = start();
    const own = {
      kind: nacos,
      state: "synced",
      get: () => cached,
      list: () => (cached === undefined ? [] : [cached]),
      setAside: () => aside,
    } as unknown as Informer;
    const cache = cacheOf(...more, own);
    const answer = explain("nacos", "n/cr", { controllers: [controller], cache, journal, leader: true });
    return answer as Record<string, unknown>;
  };

  it("tells what the object says of itself: generation, phase, and conditions wherever they stand", () => {
    const ready = { type: "Ready", status: "True", reason: "Running", message: "" };
    const config = {
      type: "ConfigReady",
      status: "False",
      reason: "SourceNotFound",
      message: "x is missing",
    };
    const status = {
      observedGeneration: 2,
      phase: "Running",
      conditions: [
        { type: "leader", status: "true", podName: "x-0" },
        { ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" },
      ],
      operatorConditions: [
        { ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" },
        { ...config, lastTransitionTime: "2026-01-02T00:00:00Z" },
      ],
    };
    const cached = { ...object({}, { generation: 3 }), status };
    expect(explained(cached).controllers).toEqual([
      expect.objectContaining({
        object: {
          found: true,
          generation: 3,
          observedGeneration: 2,
          phase: "Running",
          conditions: [
            { type: "Ready", status: "True", reason: "Running", since: "2026-01-01T00:00:00Z" },
            { ...config, since: "2026-01-02T00:00:00Z" },
          ],
        },
      }),
    ]);
  });

  it("CORE-191 tells of an object that the cache could not take in, and how many of its kind there are", () => {
    aside = [{ key: { namespace: "n", name: "cr" }, uid: "u", version: "7", reason: "nested too deep" }];
    const setAside = "version 7 cannot be cached: nested too deep";
    expect(explained(undefined)).toMatchObject({
      controllers: [{ object: { found: false, setAside } }],
      caches: [{ kind: "Nacos.v1.nacos.io", setAside: 1, setAsideObjects: ["n/cr: nested too deep"] }],
    });
    expect(explained(object({}))).toMatchObject({ controllers: [{ object: { found: true, setAside } }] });
    aside = [];
  });

  it("tells what holds up a deletion", () => {
    const deletion = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["nacos.io/cleanup"] };
    expect(explained(object({}, deletion)).controllers).toEqual([
      expect.objectContaining({ object: { found: true, ...deletion, conditions: [] } }),
    ]);
  });

  it("names each kind once, however many informers it has", () => {
    const informer = (state: string, count: number): Informer =>
      ({
        kind: sets,
        state,
        get: () => undefined,
        list: () => Array(count).fill({}),
        setAside: () => [],
      }) as unknown as Informer;
    expect(explained(object({}), informer("synced", 2), informer("syncing", 1)).caches).toEqual([
      { kind: "StatefulSet.v1.apps", state: "synced, syncing", objects: 3 },
      { kind: "Nacos.v1.nacos.io", state: "synced", objects: 1 },
    ]);
  });
});
