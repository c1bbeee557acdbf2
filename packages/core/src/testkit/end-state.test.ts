import { expect, it } from "vitest";
import { firstDifference, withoutVolatile } from "./end-state.ts";

it("leaves out what a server sets, and nothing of the same name elsewhere", () => {
  const object = (uid: string, time: string) => ({
    metadata: {
      name: "a",
      uid,
      resourceVersion: uid,
      generation: uid.length,
      creationTimestamp: time,
      deletionTimestamp: time,
      ownerReferences: [{ kind: "Thing", name: "o", uid }],
    },
    data: { uid: "kept", generation: "kept" },
    status: {
      observedGeneration: uid.length,
      conditions: [
        { type: "Ready", status: "True", lastTransitionTime: time, observedGeneration: uid.length },
      ],
    },
  });
  const stable = withoutVolatile(object("1", "2026-01-01T00:00:00Z"));
  expect(stable).toEqual(withoutVolatile(object("22", "2026-02-02T00:00:00Z")));
  expect(stable).toMatchObject({
    metadata: { name: "a", deletionTimestamp: "set", ownerReferences: [{ kind: "Thing", name: "o" }] },
    data: { uid: "kept", generation: "kept" },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
});

it.each([
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, undefined],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, "/a/1/b: expected 2, found 3"],
  [{ a: [1] }, { a: [1, 2] }, "/a/1: expected nothing, found 2"],
  [{ a: {} }, {}, "/a: expected {}, found nothing"],
  [{ a: [] }, { a: {} }, "/a: expected [], found {}"],
  [1, 2, "/: expected 1, found 2"],
])("names the first difference of %j and %j", (expected, actual, difference) => {
  expect(firstDifference(expected, actual)).toBe(difference);
});
