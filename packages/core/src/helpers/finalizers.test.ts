import { beforeEach, describe, expect, it } from "vitest";
import { apiError, type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import type { ObjectMeta } from "../object.ts";
import type { EventInput } from "../observe/types.ts";
import { type MemoryApi, memoryApi } from "../testkit/memory-api.testkit.ts";
import { type FinalizerStep, FORCE_REMOVE_ANNOTATION, finalizer } from "./finalizers.ts";

const OURS = "quartet.io/outside";
const FOREIGN = ["x.io/before", "x.io/after"];
const KEY = { namespace: "a", name: "echo" };

let api: MemoryApi;
let events: EventInput[];
let cleaned: string[];
let cleanup: () => Promise<void>;
beforeEach(() => {
  api = memoryApi();
  events = [];
  cleaned = [];
  cleanup = async () => void cleaned.push("echo");
});

function put(metadata: ObjectMeta): Thing {
  return api.put(things, thing("echo", { metadata: { ...KEY, ...metadata } }));
}

/** Runs the finalizer on an object as a cache saw it. */
function run(object: Thing, client: Client = api.client): Promise<FinalizerStep> {
  const step = finalizer({ kind: things, name: OURS, cleanup: () => cleanup() });
  return step(object, { client, events: { record: (_regarding, event) => void events.push(event) } });
}

const finalizers = (): string[] | undefined => api.get(things, KEY)?.metadata.finalizers;

describe("adding", () => {
  it("CORE-305 CORE-307 adds itself behind those of others and ends the run, once", async () => {
    const object = put({ finalizers: FOREIGN });
    expect(await run(object)).toBe("wait");
    expect(finalizers()).toEqual([...FOREIGN, OURS]);
    expect(await run(api.get(things, KEY)!)).toBe("present");
    expect(api.requests).toEqual(["patch things/echo"]);
    expect(cleaned).toEqual([]);
  });

  it("CORE-305 adds itself to an object without any", async () => {
    expect(await run(put({}))).toBe("wait");
    expect(finalizers()).toEqual([OURS]);
  });

  it("CORE-305 is not added to an object being deleted", async () => {
    put({ finalizers: FOREIGN });
    api.remove(things, KEY);
    expect(await run(api.get(things, KEY)!)).toBe("done");
    expect(api.requests).toEqual([]);
  });

  it("CORE-305 CORE-307 a list that changed meanwhile is left as it is, the next run adds", async () => {
    for (const seen of [{}, { finalizers: FOREIGN }]) {
      const object = put(seen);
      put({ finalizers: ["x.io/new"] });
      expect(await run(object)).toBe("wait");
      expect(finalizers()).toEqual(["x.io/new"]);
      expect(await run(api.get(things, KEY)!)).toBe("wait");
      expect(finalizers()).toEqual(["x.io/new", OURS]);
    }
  });

  it("an object that went meanwhile needs none", async () => {
    const object = put({});
    api.remove(things, KEY);
    expect(await run(object)).toBe("done");
  });

  it("a patch that is refused although no finalizer has changed is an error", async () => {
    const object = put({});
    put({ labels: { other: "change" } });
    const refusal = apiError(422, "metadata.finalizers: Invalid value");
    const client = { ...api.client, patch: () => Promise.reject(refusal) };
    await expect(run(object, client)).rejects.toBe(refusal);
  });

  it.each(["cleanup", "UPPER.io/x", "x.io/", "/x", "x.io/a/b"])("CORE-307 refuses the name %j", (name) => {
    expect(() => finalizer({ kind: things, name, cleanup })).toThrow(/must be domain\/name/);
  });
});

describe("deletion", () => {
  const deleting = (more: ObjectMeta = {}): Thing => {
    put({ finalizers: [FOREIGN[0]!, OURS, FOREIGN[1]!], ...more });
    api.remove(things, KEY);
    return api.get(things, KEY)!;
  };

  it("CORE-306 CORE-307 removes itself, and only itself, after the cleanup has succeeded", async () => {
    const object = deleting();
    let during: string[] | undefined;
    cleanup = async () => {
      during = finalizers();
    };
    expect(await run(object)).toBe("done");
    expect(during).toContain(OURS);
    expect(finalizers()).toEqual(FOREIGN);
    expect(await run(api.get(things, KEY)!)).toBe("done");
    expect(api.requests).toEqual(["patch things/echo"]);
  });

  it("CORE-306 the last finalizer lets the object go", async () => {
    expect(await run(deleting({ finalizers: [OURS] }))).toBe("done");
    expect(api.get(things, KEY)).toBeUndefined();
  });

  it("CORE-306 stays when the cleanup throws, with a Warning, and the error goes on", async () => {
    const object = deleting();
    const failure = new Error("the zone is locked");
    cleanup = () => Promise.reject(failure);
    await expect(run(object)).rejects.toBe(failure);
    expect(finalizers()).toContain(OURS);
    expect(events).toEqual([
      expect.objectContaining({
        type: "Warning",
        reason: "CleanupFailed",
        note: expect.stringContaining("the zone is locked"),
      }),
    ]);
    expect(api.requests).toEqual([]);
  });

  it("CORE-306 CORE-307 when the list changed meanwhile nothing is removed, the next run does", async () => {
    const object = deleting();
    const live = api.get(things, KEY)!;
    api.put(things, { ...live, metadata: { ...live.metadata, finalizers: [OURS, "x.io/other"] } });
    expect(await run(object)).toBe("wait");
    expect(finalizers()).toEqual([OURS, "x.io/other"]);
    expect(await run(api.get(things, KEY)!)).toBe("done");
    expect(finalizers()).toEqual(["x.io/other"]);
    expect(cleaned).toHaveLength(2);
  });

  it("CORE-306 an object that is gone is done", async () => {
    const object = deleting({ finalizers: [OURS] });
    const live = api.get(things, KEY)!;
    api.put(things, { ...live, metadata: { ...live.metadata, finalizers: [] } });
    expect(await run(object)).toBe("done");
  });

  it("CORE-308 the annotation that names it skips the cleanup, with a Warning", async () => {
    const object = deleting({ annotations: { [FORCE_REMOVE_ANNOTATION]: OURS } });
    expect(await run(object)).toBe("done");
    expect(cleaned).toEqual([]);
    expect(finalizers()).toEqual(FOREIGN);
    expect(events).toEqual([expect.objectContaining({ type: "Warning", reason: "CleanupSkipped" })]);
  });

  it("CORE-308 the annotation of another finalizer does not, nor does it on an object that is not being deleted", async () => {
    await run(deleting({ annotations: { [FORCE_REMOVE_ANNOTATION]: FOREIGN[0]! } }));
    expect(cleaned).toEqual(["echo"]);
    api = memoryApi();
    const alive = put({ finalizers: [OURS], annotations: { [FORCE_REMOVE_ANNOTATION]: OURS } });
    expect(await run(alive)).toBe("present");
    expect(finalizers()).toEqual([OURS]);
  });
});

describe("dry run", () => {
  it("CORE-241 goes on without the finalizer, and cleans nothing up", async () => {
    const step = finalizer({ kind: things, name: OURS, cleanup: () => cleanup() });
    const ctx = { client: api.client, events: { record: () => {} }, dryRun: true };
    expect(await step(put({}), ctx)).toBe("present");
    const object = put({ finalizers: [OURS] });
    api.remove(things, KEY);
    expect(await step({ ...object, ...api.get(things, KEY)! }, ctx)).toBe("done");
    expect(cleaned).toEqual([]);
  });
});
