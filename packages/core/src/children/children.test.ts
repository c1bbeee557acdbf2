import { beforeEach, describe, expect, it } from "vitest";
import { type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import { ApiError } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Kind, KubeObject, ObjectKey } from "../object.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { type MemoryApi, memoryApi } from "../testkit/memory-api.testkit.ts";
import { type ChildPlan, type Children, childrenOf } from "./children.ts";
import { childMetadata, claimOf, type Family, mergedMetadata } from "./family.ts";
import { type ChildMemory, createChildMemory } from "./memory.ts";

interface Part extends KubeObject {
  spec?: { size?: number };
}
const parts = { ...things, kind: "Part", plural: "parts" } as unknown as Kind<Part>;
const LABELS = { app: "owner" };
const family: Family<Thing> = {
  owner: things,
  labels: () => LABELS,
  adopts: ({ metadata }) => metadata.labels?.app === "owner",
  inherits: { annotation: "x.io/inherited", isPrivate: (key) => key.startsWith("kubectl/") },
};
const owner = (metadata: object = {}): Thing =>
  thing("owner", { metadata: { name: "owner", namespace: "a", uid: "u1", ...metadata } });
const wanted = (size: number, by = owner()): Part => ({
  apiVersion: "test.quartet.io/v1",
  kind: "Part",
  metadata: childMetadata(family, by, "part"),
  spec: { size },
});
const plan = (size: number, more: Partial<ChildPlan<Part>> = {}): ChildPlan<Part> => ({
  create: () => wanted(size),
  update: (live) => ({
    ...live,
    metadata: mergedMetadata(family, live.metadata, wanted(size).metadata),
    spec: { size },
  }),
  ...more,
});

let api: MemoryApi;
let memory: ChildMemory;
let clock: FakeClock;
let refuse: (verb: string) => ApiError | undefined;
/** What the cache holds beside everything: `undefined` hides the object. */
let hidden: boolean;
beforeEach(() => {
  api = memoryApi();
  api.put(things, owner());
  memory = createChildMemory();
  clock = fakeClock();
  refuse = () => undefined;
  hidden = false;
});

const key = { namespace: "a", name: "part" };
const stored = (): Part | undefined => api.get(parts, key);
const ensure = (by: ChildPlan<Part>, force = false) =>
  children().ensure({ kind: parts, name: "part", force }, by);

function children(dryRun = false): Children<Thing> {
  const client = new Proxy(api.client, {
    get(target, verb: keyof Client) {
      const call = target[verb] as (...args: unknown[]) => unknown;
      return async (...args: unknown[]) => {
        const error = refuse(verb);
        if (error !== undefined) {
          api.requests.push(`${verb} refused`);
          throw error;
        }
        return call(...args);
      };
    },
  });
  return childrenOf(
    {
      client,
      signal: new AbortController().signal,
      cache: {
        source: (kind) => ({ get: (at: ObjectKey) => (hidden ? undefined : api.get(kind, at)) }) as never,
      },
      ...(dryRun && { dryRun }),
    },
    {
      family,
      owner: owner(),
      memory,
      clock,
    },
  );
}

const forbidden = (): ApiError =>
  new ApiError({
    code: 403,
    reason: "Forbidden",
    message: "quota exceeded",
    details: { causes: [] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "POST",
    path: "/x",
  });

describe("a child", () => {
  it("CORE-315 is created, then left alone, then updated, each with one request or none", async () => {
    expect(await ensure(plan(1))).toMatchObject({ action: "created", object: { spec: { size: 1 } } });
    expect(await ensure(plan(1))).toMatchObject({ action: "none", object: { spec: { size: 1 } } });
    expect(await ensure(plan(2))).toMatchObject({ action: "updated", before: { spec: { size: 1 } } });
    expect(api.requests).toEqual(["create parts/part", "update parts/part"]);
  });

  it("CORE-315 is decided anew by the server's object when the cache lags behind", async () => {
    api.put(parts, wanted(1));
    hidden = true;
    expect(await ensure(plan(2))).toMatchObject({ action: "updated", object: { spec: { size: 2 } } });
    expect(api.requests).toEqual(["create parts/part", "get parts/part", "update parts/part"]);
  });

  it("CORE-315 whose name an object outside the cache has is asked for before it is created again", async () => {
    api.put(parts, { ...wanted(1), metadata: { name: "part", namespace: "a" } });
    hidden = true;
    for (let pass = 0; pass < 2; pass += 1) {
      expect((await ensure(plan(1))).problem).toMatchObject({ cause: "foreign", reason: "ResourceConflict" });
    }
    expect(api.requests).toEqual(["create parts/part", "get parts/part", "get parts/part"]);
  });

  it("CORE-316 is written under the name, namespace and kind that were asked for, and nowhere else", async () => {
    const elsewhere: [keyof KubeObject, unknown][] = [
      ["metadata", { ...wanted(1).metadata, namespace: "kube-system" }],
      ["metadata", { ...wanted(1).metadata, name: "other" }],
      ["kind", "ClusterPart"],
      ["apiVersion", "rbac.authorization.k8s.io/v1"],
    ];
    for (const [field, value] of elsewhere) {
      await expect(ensure(plan(1, { create: () => ({ ...wanted(1), [field]: value }) }))).rejects.toThrow(
        "is not the child that was asked for",
      );
    }
    api.put(parts, wanted(1));
    await expect(ensure(plan(1, { update: () => ({ ...wanted(2), kind: "X" }) }))).rejects.toThrow(
      "not the child",
    );
    expect(api.requests).toEqual([]);
  });

  it("CORE-312 that nobody controls is taken over, after a live look at the owner", async () => {
    api.put(parts, { ...wanted(1), metadata: { name: "part", namespace: "a", labels: LABELS } });
    expect(await ensure(plan(1))).toMatchObject({ action: "updated" });
    expect(stored()?.metadata.ownerReferences?.[0]).toMatchObject({ uid: "u1", controller: true });
    expect(api.requests).toEqual(["get things/owner", "update parts/part"]);
  });

  it("CORE-312 CORE-313 is taken over for no owner that is gone, made anew or being deleted", async () => {
    const orphan: Part = { ...wanted(1), metadata: { name: "part", namespace: "a", labels: LABELS } };
    api.put(parts, orphan);
    api.put(things, owner({ finalizers: ["x.io/a"] }));
    api.remove(things, { namespace: "a", name: "owner" });
    expect(await ensure(plan(1))).toMatchObject({ action: "none" });
    expect(stored()?.metadata).not.toHaveProperty("ownerReferences");
    expect(api.requests).toEqual(["get things/owner"]);
  });

  it("CORE-313 of a former owner of the same name is waited for, of another is left alone", () => {
    const reference = {
      apiVersion: "test.quartet.io/v2",
      kind: "Thing",
      name: "owner",
      uid: "u0",
      controller: true,
    };
    const of = (references: object[], metadata: object = {}) =>
      claimOf(family, owner(), {
        ...wanted(1),
        metadata: { ...metadata, ownerReferences: references as never },
      });
    expect(of([reference])).toEqual({ state: "leaving" });
    expect(of([{ ...reference, name: "other" }])).toEqual({ state: "foreign", owner: "Thing other" });
    expect(of([{ ...reference, uid: "u1" }])).toEqual({ state: "ours" });
    expect(of([{ ...reference, uid: "u1" }], { deletionTimestamp: "now" })).toEqual({ state: "leaving" });
    expect(of([])).toEqual({ state: "foreign", owner: "unmanaged" });
  });

  it("CORE-318 that the server took without any change is not sent again, until one of the two is another", async () => {
    await ensure(plan(1));
    const loses: ChildPlan<Part> = plan(1, { update: (live) => ({ ...(live as Part), extra: 1 }) as Part });
    const { put } = api;
    // A server that drops what it does not know.
    api.client.update = async (kind, object) => {
      api.requests.push("update parts/part");
      const { extra: _dropped, ...rest } = object as unknown as Record<string, unknown>;
      return put(kind, rest as never);
    };
    expect((await ensure(loses)).action).toBe("settled");
    expect((await ensure(loses)).action).toBe("none");
    expect(api.requests).toEqual(["create parts/part", "update parts/part"]);
    api.put(parts, { ...stored()!, metadata: { ...stored()!.metadata, labels: { ...LABELS, more: "x" } } });
    expect((await ensure(loses)).action).toBe("settled");
  });

  it("CORE-319 that is refused is tried again at growing intervals, and at once in another form", async () => {
    refuse = (verb) => (verb === "create" ? forbidden() : undefined);
    const waits: number[] = [];
    for (let pass = 0; pass < 40; pass += 1) {
      const { problem } = await ensure(plan(1));
      expect(problem).toMatchObject({ cause: "refused", reason: "Forbidden" });
      waits.push(problem?.retryAfterMs ?? 0);
      await clock.advance(1_000);
    }
    // At 0, 5, 15 and 35 seconds.
    expect(api.requests).toHaveLength(4);
    expect(waits.slice(0, 6)).toEqual([5_000, 4_000, 3_000, 2_000, 1_000, 10_000]);
    await ensure(plan(2));
    expect(api.requests).toHaveLength(5);
  });

  it("CORE-320 that cannot be updated is deleted by its uid and made anew, unless the server would not take it back", async () => {
    await ensure(plan(1));
    const uid = stored()?.metadata.uid;
    refuse = (verb) => (verb === "create" ? forbidden() : undefined);
    const anew = plan(2, { replaces: () => true });
    expect(await ensure(anew)).toMatchObject({ action: "none", problem: { reason: "Forbidden" } });
    expect(stored()).toMatchObject({ metadata: { uid }, spec: { size: 1 } });
    refuse = () => undefined;
    await clock.advance(6_000);
    expect(await ensure(anew)).toMatchObject({ action: "replaced", object: { spec: { size: 2 } } });
    expect(stored()?.metadata.uid).not.toBe(uid);
  });

  it("CORE-321 carries the owner's labels and annotations, and loses them with it", () => {
    const before = owner({ labels: { team: "a" }, annotations: { note: "1", "kubectl/x": "2" } });
    const made = childMetadata(family, before, "part", { own: "3" });
    expect(made.labels).toEqual({ team: "a", app: "owner" });
    expect(made.annotations).toMatchObject({ note: "1", own: "3" });
    expect(made.annotations).not.toHaveProperty("kubectl/x");
    const live = { ...made, labels: { ...made.labels, foreign: "y" } };
    const after = mergedMetadata(family, live, childMetadata(family, owner(), "part", { own: "4" }));
    expect(after.labels).toEqual({ app: "owner", foreign: "y" });
    expect(after.annotations).toMatchObject({ own: "4" });
    expect(after.annotations).not.toHaveProperty("note");
  });
});
