import { describe, expect, it } from "vitest";
import type { Cache, Informer } from "../cache/types.ts";
import type { WriteInfo } from "../client/types.ts";
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
  } as unknown as Informer;
  const cache = { informers: () => [informer] };
  let key: string | undefined;
  const journal = createWriteJournal(cache, fakeClock(), () => key);
  return { journal, cache, setKey: (next) => (key = next) };
}

describe("journal of writes", () => {
  it("tells what was written for an object and which fields that changed, but no value", () => {
    const { journal, setKey } = start(object({ replicas: 1, template: { image: "a" } }));
    setKey("n/cr");
    const hooks = journal.hooks("nacos");
    hooks.afterWrite!(
      info,
      object({ replicas: 3, template: { image: "hunter2" } }, { resourceVersion: "2" }),
    );
    hooks.afterWrite!({ ...info, verb: "patch", subresource: "status" }, undefined);
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
    hooks.afterWrite!(info, object({}));
    setKey("n/cr");
    for (let index = 0; index < 15; index++) {
      hooks.afterWrite!({ ...info, key: { namespace: "n", name: `x${index}` } }, object({}));
    }
    const entries = journal.entries("nacos", "n/cr");
    expect(entries).toHaveLength(10);
    expect(entries[0]).toMatchObject({ write: "apply statefulsets.apps n/x14", changed: ["(new)"] });
  });

  it("keeps at most 1 000 objects", () => {
    const { journal, setKey } = start();
    const hooks = journal.hooks("nacos");
    for (let index = 0; index < 1_001; index++) {
      setKey(`n/${index}`);
      hooks.afterWrite!(info, object({}));
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
  const controller = {
    name: "nacos",
    sources: [
      {
        role: "for",
        kind: defineKind({ ...sets, group: "nacos.io", kind: "Nacos", plural: "nacos" }),
        options: {},
      },
    ],
    explain: () => ({ state: "Running" }),
  } as unknown as Controller;

  it.each(["nacos", "Nacos", "NACOS", "nacos.nacos.io"])("finds a controller by %s", (kind) => {
    const { journal, cache } = start(object({}));
    expect(explain(kind, "n/cr", { controllers: [controller], cache, journal, leader: true })).toEqual({
      leader: true,
      controllers: [{ state: "Running", lastWrites: [] }],
      caches: [{ kind: "StatefulSet.v1.apps", state: "synced", objects: 1 }],
    });
  });

  it("finds nothing for other kinds", () => {
    const { journal, cache } = start();
    expect(
      explain("pods", "n/cr", { controllers: [controller], cache, journal, leader: true }),
    ).toBeUndefined();
  });
});
