import { describe, expect, it } from "vitest";
import { type Thing, thing, things, worlds } from "../cache/fixtures.testkit.ts";
import type { OwnerReference } from "../object.ts";
import { controllerReference, isControlledBy, withController } from "./owners.ts";

const owner = (uid = "u1", namespace = "a"): Thing =>
  thing("owner", { metadata: { name: "owner", namespace, uid } });
const reference = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "test.quartet.io/v1",
  kind: "Thing",
  name: "owner",
  uid: "u1",
  controller: true,
  blockOwnerDeletion: true,
  ...more,
});
const part = (ownerReferences?: OwnerReference[], namespace = "a"): Thing => ({
  ...thing("part"),
  kind: "Part",
  metadata: { name: "part", namespace, ...(ownerReferences && { ownerReferences }) },
});

describe("withController", () => {
  it("CORE-309 names apiVersion, kind, name and uid, and blocks the owner's deletion", () => {
    expect(controllerReference(things, owner())).toEqual(reference());
    expect(withController(part(), things, owner()).metadata.ownerReferences).toEqual([reference()]);
  });

  it("CORE-309 keeps owners that do not control, and replaces the same owner at another version in place", () => {
    const plain: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u2" };
    const old = reference({ apiVersion: "test.quartet.io/v1alpha1", blockOwnerDeletion: false });
    const object = part([old, plain]);
    expect(withController(object, things, owner()).metadata.ownerReferences).toEqual([reference(), plain]);
    expect(object.metadata.ownerReferences).toEqual([old, plain]);
  });

  it("CORE-309 makes a plain reference to the same owner the controlling one", () => {
    const { controller, ...plain } = reference();
    expect(controller).toBe(true);
    expect(withController(part([plain]), things, owner()).metadata.ownerReferences).toEqual([reference()]);
  });

  it.each([
    [
      "another kind",
      reference({ kind: "World" }),
      /Part a\/part is controlled by World.test.quartet.io owner/,
    ],
    ["another name", reference({ name: "other", uid: "u2" }), /controlled by Thing.test.quartet.io other/],
    ["a former owner of that name", reference({ uid: "u0" }), /controlled by .* owner \(uid u0\) already/],
  ])("CORE-309 CORE-313 refuses an object controlled by %s, and names it", (_what, current, message) => {
    expect(() => withController(part([current]), things, owner())).toThrow(message);
  });

  it("CORE-310 refuses an owner in another namespace, and a namespaced owner of a cluster-scoped object", () => {
    expect(() => withController(part([], "b"), things, owner())).toThrow(
      "Part b/part is in namespace b: its owner cannot be in namespace a",
    );
    expect(() => withController(thing("w", { namespace: "", kind: "World" }), things, owner())).toThrow(
      "World w is cluster-scoped: its owner cannot be in namespace a",
    );
    const world = thing("w", { metadata: { name: "w", uid: "u9" } });
    expect(withController(part(), worlds, world).metadata.ownerReferences?.[0]?.uid).toBe("u9");
  });

  it("tells by uid who controls an object", () => {
    expect(isControlledBy(part([reference()]), owner())).toBe(true);
    expect(isControlledBy(part([reference({ uid: "u0" })]), owner())).toBe(false);
    expect(isControlledBy(part(), owner())).toBe(false);
    expect(isControlledBy(part(), { metadata: {} })).toBe(false);
  });
});
