import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { KubeObject } from "./object.ts";
import { createStore } from "./store.ts";

const object = (name: string, value: number): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  value,
});
const show = (objects: readonly KubeObject[] | undefined): string[] | undefined =>
  objects?.map(({ metadata, value }) => `${metadata.name}=${value}`);

it("CORE-468 the state of an earlier version is what it was, whatever was written since", () => {
  const names = fc.constantFrom("a", "b", "c", "d");
  const writes = fc.array(fc.record({ name: names, value: fc.nat(), remove: fc.boolean() }), {
    maxLength: 40,
  });
  void fc.assert(
    fc.property(writes, (list) => {
      const store = createStore();
      const history: [number, string[]][] = [[store.current(), []]];
      for (const { name, value, remove } of list) {
        const present = store.get("things", `/${name}`);
        if (!remove) store.put("things", `/${name}`, object(name, value));
        else if (present !== undefined) store.remove("things", `/${name}`, present);
        history.push([store.current(), show(store.list("things"))!]);
      }
      for (const [version, state] of history) expect(show(store.listAt("things", version))).toEqual(state);
    }),
  );
});

it("CORE-460 CORE-467 every write has a version of its own, and the events since a version are all there, in order", () => {
  const store = createStore();
  const seen: number[] = [];
  store.subscribe("things", ({ rv }) => seen.push(rv));
  const start = store.current();
  store.put("things", "/a", object("a", 1));
  store.put("others", "/x", object("x", 1));
  store.put("things", "/a", object("a", 2));
  store.remove("things", "/a", store.get("things", "/a")!);
  expect(seen).toEqual([start + 1, start + 3, start + 4]);
  expect(store.since("things", start)?.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  expect(store.since("things", start + 3)?.map(({ type }) => type)).toEqual(["DELETED"]);
});
