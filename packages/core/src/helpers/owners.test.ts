import { beforeEach, describe, expect, it } from "vitest";
import { type Thing, thing, things, worlds } from "../cache/fixtures.testkit.ts";
import type { Kind, OwnerReference } from "../object.ts";
import type { EventInput } from "../observe/types.ts";
import { type MemoryApi, memoryApi } from "../testkit/memory-api.testkit.ts";
import { type Adoption, adopt, controllerReference, isControlledBy, withController } from "./owners.ts";

const parts: Kind<Thing> = { ...things, kind: "Part", plural: "parts" };

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

describe("adopt", () => {
  let api: MemoryApi;
  let events: EventInput[];
  beforeEach(() => {
    api = memoryApi();
    events = [];
    api.put(things, owner());
  });
  const run = (object: Thing, by: Thing = owner()): Promise<Adoption> =>
    adopt(
      { client: api.client, events: { record: (_about, event) => void events.push(event) } },
      parts,
      object,
      {
        kind: things,
        object: by,
      },
    );
  const references = (): OwnerReference[] | undefined =>
    api.get(parts, { namespace: "a", name: "part" })?.metadata.ownerReferences;

  it("CORE-312 takes an object over that nobody controls, after a live read of the owner", async () => {
    const plain: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u2" };
    const object = api.put(parts, part([plain]));
    expect(await run(object)).toEqual({ result: "adopted" });
    expect(references()).toEqual([plain, reference()]);
    expect(api.requests).toEqual(["get things/owner", "patch parts/part"]);
  });

  it("CORE-312 sends nothing for an object that it controls already", async () => {
    expect(await run(api.put(parts, part([reference()])))).toEqual({ result: "owned" });
    expect(api.requests).toEqual([]);
  });

  it("CORE-312 leaves an object that somebody else controls, with a Warning", async () => {
    const foreign = reference({ name: "other", uid: "u2" });
    expect(await run(api.put(parts, part([foreign])))).toEqual({ result: "foreign", controller: foreign });
    expect(references()).toEqual([foreign]);
    expect(events).toEqual([expect.objectContaining({ type: "Warning", reason: "ForeignController" })]);
    expect(api.requests).toEqual([]);
  });

  it("CORE-313 leaves a child of a former owner of the same name to the garbage collector, without a word", async () => {
    const former = reference({ uid: "u0" });
    expect(await run(api.put(parts, part([former])))).toEqual({ result: "foreign", controller: former });
    expect(references()).toEqual([former]);
    expect(events).toEqual([]);
    expect(api.requests).toEqual([]);
  });

  it("CORE-312 CORE-313 an owner that is gone, made anew or being deleted adopts nothing", async () => {
    const object = api.put(parts, part());
    expect(await run(object, owner("u0"))).toEqual({ result: "owner-gone" });
    const held = api.get(things, { namespace: "a", name: "owner" })!;
    api.put(things, { ...held, metadata: { ...held.metadata, finalizers: ["x.io/a"] } });
    api.remove(things, { namespace: "a", name: "owner" });
    expect(await run(object)).toEqual({ result: "owner-gone" });
    api.put(things, {
      ...api.get(things, { namespace: "a", name: "owner" })!,
      metadata: { ...held.metadata, deletionTimestamp: "x" },
    });
    expect(await run(object)).toEqual({ result: "owner-gone" });
    expect(references()).toBeUndefined();
  });

  it("CORE-312 an object that was made anew meanwhile is not adopted in the other's stead", async () => {
    const seen = api.put(parts, part());
    api.remove(parts, { namespace: "a", name: "part" });
    expect(await run(seen)).toEqual({ result: "object-gone" });
    api.put(parts, part());
    await expect(run(seen)).rejects.toMatchObject({ code: 409 });
    expect(references()).toBeUndefined();
  });

  it("CORE-312 an object being deleted is not adopted", async () => {
    const object = part();
    object.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(await run(object)).toEqual({ result: "object-gone" });
    expect(api.requests).toEqual([]);
  });
});
