import { describe, expect, it } from "vitest";
import { isProjected } from "../../projected.ts";
import { memoryLog, type Thing, thing, things } from "../fixtures.testkit.ts";
import { deepFreeze, mutable } from "../guard.ts";
import type { Projection } from "../types.ts";
import { createPreparation } from "./projections.ts";

const received = (): Thing =>
  thing("x", {
    metadata: { uid: "u", managedFields: [{ manager: "m" }], annotations: { note: "kept" } },
    spec: { text: "hello" },
    data: { unknown: [1, null, { deep: "" }] },
  });

function prepare(projection: Projection<Thing>, object = received(), guard = false) {
  const { log, lines } = memoryLog();
  return { object: createPreparation<Thing>({ kind: things, projection, guard, log })(object), lines };
}

describe("projections", () => {
  it("CORE-178 full keeps all but managedFields, and may be written back", () => {
    const { managedFields: _, ...metadata } = received().metadata;
    const { object } = prepare("full");
    expect(object).toStrictEqual({ ...received(), metadata });
    expect(isProjected(object)).toBe(false);
  });

  it("CORE-178 metadata keeps metadata under the kind's own name, and must not be written back", () => {
    const partial: Thing = { ...received(), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    const { object } = prepare("metadata", partial);
    expect(object).toMatchObject({
      apiVersion: "test.quartet.io/v1",
      kind: "Thing",
      metadata: { name: "x" },
    });
    expect(Object.keys(object)).toEqual(["apiVersion", "kind", "metadata"]);
    expect(isProjected(object)).toBe(true);
  });

  it("CORE-178 a transform's objects, and copies of them, are marked against being written back", () => {
    const { object } = prepare({ name: "no-data", transform: ({ data: _, ...rest }) => rest });
    expect(object).not.toHaveProperty("data");
    expect(isProjected(object)).toBe(true);
    expect(isProjected(mutable(object))).toBe(true);
    expect(isProjected({ ...object, spec: {} })).toBe(true);
    expect(JSON.stringify(object)).not.toContain("projected");
  });

  it("keeps the whole object, still marked, when a transform throws", () => {
    const { object, lines } = prepare({
      name: "broken",
      transform() {
        throw new Error("cannot");
      },
    });
    expect(object.spec).toEqual({ text: "hello" });
    expect(isProjected(object)).toBe(true);
    expect(lines).toMatchObject([{ level: "error", fields: { transform: "broken", name: "x" } }]);
  });

  it("CORE-181 with the guard a write anywhere in a prepared object throws a TypeError", () => {
    const { object } = prepare("full", received(), true);
    expect(() => {
      object.metadata.annotations!.note = "changed";
    }).toThrow(TypeError);
    expect(() => (object.data!.unknown as unknown[]).push(2)).toThrow(TypeError);
  });
});

describe("mutable", () => {
  it("CORE-181 gives a deep copy of a frozen object, equal and free to be changed", () => {
    const frozen = deepFreeze(received());
    const copy = mutable(frozen);
    expect(copy).toStrictEqual(received());
    copy.metadata.annotations!.note = "changed";
    (copy.data!.unknown as unknown[]).push(2);
    expect(frozen).toStrictEqual(received());
  });

  it("copies the key __proto__ as data", () => {
    const tricky = JSON.parse('{"a":{"__proto__":{"b":1}}}') as Record<string, unknown>;
    expect(JSON.stringify(mutable(tricky))).toBe('{"a":{"__proto__":{"b":1}}}');
  });
});
