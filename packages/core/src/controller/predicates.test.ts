import { describe, expect, it } from "vitest";
import { thing } from "../cache/fixtures.testkit.ts";
import type { CacheEvent } from "../cache/types.ts";
import type { ObjectMeta } from "../object.ts";
import {
  and,
  annotationsChanged,
  finalizersChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  primaryChanged,
  resourceVersionChanged,
} from "./predicates.ts";
import type { Predicate } from "./types.ts";

const withMeta = (metadata: ObjectMeta) => ({
  ...thing("a"),
  metadata: { name: "a", namespace: "a", ...metadata },
});

function update(old: ObjectMeta, next: ObjectMeta, resync = false): CacheEvent {
  return { type: "update", old: withMeta(old), object: withMeta(next), resync };
}
const added: CacheEvent = { type: "add", object: withMeta({}), initial: false };
const deleted: CacheEvent = { type: "delete", object: withMeta({}), stale: false };

const status = update({ resourceVersion: "1", generation: 1 }, { resourceVersion: "2", generation: 1 });
const spec = update({ generation: 1 }, { generation: 2 });
const labels = update({ generation: 1, labels: { a: "1" } }, { generation: 1, labels: { a: "2" } });
const annotations = update({ generation: 1 }, { generation: 1, annotations: { a: "2" } });
const finalizers = update({ generation: 1 }, { generation: 1, finalizers: ["x.io/a"] });
const deletion = update({ generation: 1 }, { generation: 1, deletionTimestamp: "2026-01-01T00:00:00Z" });
const nothing = update({ resourceVersion: "1", labels: {} }, { resourceVersion: "1" });

const cases: [string, Predicate, CacheEvent[], CacheEvent[]][] = [
  ["resourceVersionChanged", resourceVersionChanged, [added, deleted, status], [nothing]],
  ["generationChanged", generationChanged, [added, deleted, spec, deletion], [status, labels, annotations]],
  ["labelsChanged", labelsChanged, [added, deleted, labels], [status, spec, annotations, nothing]],
  ["annotationsChanged", annotationsChanged, [added, deleted, annotations], [status, spec, labels]],
  ["finalizersChanged", finalizersChanged, [added, deleted, finalizers], [status, spec, labels]],
];

describe.each(cases)("%s", (_name, predicate, passing, held) => {
  it("CORE-223 passes creates, deletes and the changes that it is about, and holds all others", () => {
    expect(passing.map(predicate)).toEqual(passing.map(() => true));
    expect(held.map(predicate)).toEqual(held.map(() => false));
  });
});

it("CORE-224 the default of `for` passes spec, labels, annotations, finalizers and deletion, and no status", () => {
  const passing = [added, deleted, spec, labels, annotations, finalizers, deletion];
  expect(passing.map(primaryChanged)).toEqual(passing.map(() => true));
  expect([status, nothing].map(primaryChanged)).toEqual([false, false]);
});

it("CORE-175 a resync passes all of them", () => {
  expect(primaryChanged(update({ generation: 1 }, { generation: 1 }, true))).toBe(true);
});

it("CORE-223 are combined by and, or and not", () => {
  const yes: Predicate = () => true;
  const no: Predicate = () => false;
  expect([and(yes, yes)(added), and(yes, no)(added)]).toEqual([true, false]);
  expect([or(no, yes)(added), or(no, no)(added)]).toEqual([true, false]);
  expect([not(yes)(added), not(no)(added)]).toEqual([false, true]);
});
