import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyOf, keyToString } from "../../object.ts";
import { type Thing, thing } from "../fixtures.testkit.ts";
import { type Change, createObjectMap, createStore, type ObjectMap } from "./store.ts";

const at = (name: string, version: string, namespace = "a"): Thing =>
  thing(name, { namespace, metadata: { uid: `${namespace}-${name}`, resourceVersion: version } });

function mapOf(objects: readonly Thing[]): ObjectMap<Thing> {
  const map = createObjectMap<Thing>();
  for (const object of objects) map.set(keyOf(object), object);
  return map;
}

const brief = (change: Change<Thing> | undefined): string =>
  change === undefined
    ? "-"
    : `${change.type} ${keyToString(change.key)}@${change.object.metadata.resourceVersion}${
        change.type === "delete" && change.stale ? " stale" : ""
      }`;

describe("store", () => {
  it("tells adds, updates and deletes apart", () => {
    const store = createStore<Thing>();
    expect(brief(store.upsert(at("x", "5")))).toBe("add a/x@5");
    expect(store.upsert(at("x", "6"))).toMatchObject({
      type: "update",
      old: { metadata: { resourceVersion: "5" } },
    });
    expect(brief(store.remove(at("x", "7")))).toBe("delete a/x@7");
    expect(store.remove(at("x", "8"))).toBeUndefined();
  });

  it("CORE-189 makes nothing of a version that it has or had", () => {
    const store = createStore<Thing>();
    store.upsert(at("x", "10"));
    expect(store.upsert(at("x", "10"))).toBeUndefined();
    expect(store.upsert(at("x", "9"))).toBeUndefined();
    expect(store.remove(at("x", "9"))).toBeUndefined();
    expect(store.objects.get({ namespace: "a", name: "x" })?.metadata.resourceVersion).toBe("10");
  });

  it("takes versions that cannot be ordered as they come", () => {
    const store = createStore<Thing>();
    store.upsert(at("x", "abc"));
    expect(brief(store.upsert(at("x", "aaa")))).toBe("update a/x@aaa");
    expect(store.upsert(at("x", "aaa"))).toBeUndefined();
  });

  it("CORE-172 CORE-174 a list updates only what changed, and deletes what is missing, last and as stale", () => {
    const store = createStore<Thing>();
    for (const object of [at("gone", "1"), at("same", "2"), at("new-version", "3")]) store.upsert(object);
    const same = store.objects.get({ namespace: "a", name: "same" });
    const changes = store.replace(mapOf([at("new-version", "9"), at("same", "2"), at("added", "8")]));
    expect(changes.map(brief)).toEqual(["update a/new-version@9", "add a/added@8", "delete a/gone@1 stale"]);
    expect(store.objects.get({ namespace: "a", name: "same" })).toBe(same);
    expect(store.objects.size).toBe(3);
  });

  it("CORE-172 CORE-189 a list that holds another object of the same name deletes the one before and adds it", () => {
    const store = createStore<Thing>();
    for (const object of [at("again", "1"), at("gone", "2")]) store.upsert(object);
    const again = thing("again", { metadata: { uid: "another", resourceVersion: "9" } });
    const changes = store.replace(mapOf([again, at("added", "8")]));
    expect(changes.map(brief)).toEqual([
      "add a/added@8",
      "delete a/again@1 stale",
      "delete a/gone@2 stale",
      "add a/again@9",
    ]);
    expect(store.objects.get({ namespace: "a", name: "again" })).toBe(again);
  });

  it("takes equal versions over silently when the new list holds more of each object", () => {
    const store = createStore<Thing>();
    store.upsert(at("x", "1"));
    const whole = { ...at("x", "1"), spec: { text: "now whole" } };
    expect(store.replace(mapOf([whole]), true)).toEqual([]);
    expect(store.objects.get({ namespace: "a", name: "x" })).toBe(whole);
  });

  it("lists by namespace and counts", () => {
    const map = mapOf([at("x", "1", "a"), at("y", "2", "b"), at("z", "3", "b")]);
    expect([...map.values("b")].map((object) => object.metadata.name)).toEqual(["y", "z"]);
    expect([...map.values()]).toHaveLength(3);
    map.delete({ namespace: "b", name: "y" });
    map.delete({ namespace: "b", name: "y" });
    expect(map.size).toBe(2);
    expect([...map.values("none")]).toEqual([]);
  });
});

type Op =
  | { type: "write"; key: number }
  | { type: "remove"; key: number }
  | { type: "replay"; back: number }
  | { type: "relist"; lost: readonly { key: number; remove: boolean }[] };

const KEYS = 5;
const key = fc.integer({ min: 0, max: KEYS - 1 });
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ type: fc.constant("write" as const), key }),
  fc.record({ type: fc.constant("remove" as const), key }),
  fc.record({ type: fc.constant("replay" as const), back: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    type: fc.constant("relist" as const),
    lost: fc.array(fc.record({ key, remove: fc.boolean() }), { maxLength: 6 }),
  }),
);

/** A server, and a store that follows it: by events, by events seen twice, and by lists after lost events. */
function follow(ops: readonly Op[]) {
  const server = new Map<string, Thing>();
  const store = createStore<Thing>();
  const batches: Change<Thing>[][] = [];
  const history: { type: "upsert" | "remove"; object: Thing }[] = [];
  let version = 0;
  const record = (change: Change<Thing> | undefined): void => {
    if (change !== undefined) batches.push([change]);
  };
  const act = (n: number, remove: boolean): { type: "upsert" | "remove"; object: Thing } | undefined => {
    const name = `k${n}`;
    if (remove && !server.has(name)) return undefined;
    const object = at(name, String(++version));
    if (remove) server.delete(name);
    else server.set(name, object);
    return { type: remove ? "remove" : "upsert", object };
  };
  for (const step of ops) {
    if (step.type === "relist") {
      for (const { key: n, remove } of step.lost) act(n, remove);
      history.length = 0;
      batches.push(store.replace(mapOf([...server.values()])));
    } else if (step.type === "replay") {
      for (const { type, object } of history.slice(-step.back)) record(store[type](object));
    } else {
      const event = act(step.key, step.type === "remove");
      if (event === undefined) continue;
      history.push(event);
      record(store[event.type](event.object));
    }
  }
  return { server, store, batches };
}

describe("store that follows a server", () => {
  it("CORE-189 equals it, and its changes lead there, per key in order of version", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 40 }), (ops) => {
        const { server, store, batches } = follow(ops);
        const versions = (objects: Iterable<Thing>): Record<string, string> =>
          Object.fromEntries([...objects].map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
        expect(versions(store.objects.values())).toEqual(versions(server.values()));

        const model = new Map<string, number>();
        for (const {
          type,
          key: { name },
          object,
        } of batches.flat()) {
          const before = model.get(name);
          const now = Number(object.metadata.resourceVersion);
          if (type === "add") expect(before).toBeUndefined();
          else expect(before).toBeDefined();
          if (type === "update") expect(now).toBeGreaterThan(before ?? Number.NaN);
          if (type === "delete") expect(now).toBeGreaterThanOrEqual(before ?? Number.NaN);
          if (type === "delete") model.delete(name);
          else model.set(name, now);
        }
        expect(model.size).toBe(server.size);
      }),
      { numRuns: 500 },
    );
  });

  it("CORE-174 puts the deletions of a list after everything else", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 40 }), (ops) => {
        for (const batch of follow(ops).batches) {
          const kinds = batch.map(({ type }) => (type === "delete" ? 1 : 0));
          expect(kinds).toEqual([...kinds].sort());
        }
      }),
    );
  });
});
