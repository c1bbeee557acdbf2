import { beforeEach, describe, expect, it } from "vitest";
import { memoryLog, type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import { ApiError } from "../client/errors.ts";
import type { Client, DeleteOptions, WriteOptions } from "../client/types.ts";
import type { RunContext } from "../controller/rejections.ts";
import type { EventInput } from "../observe/types.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { type MemoryApi, memoryApi } from "../testkit/memory-api.testkit.ts";
import { createPlanner, type Planner } from "./planner.ts";

const KEY = { namespace: "a", name: "echo" };

let api: MemoryApi;
let events: EventInput[];
let planner: Planner;
let client: Client;
let run: RunContext | undefined;
/** Writes as they reached the server: the verb, and whether as a dry run. */
let sent: string[];
const { log, lines } = memoryLog();

/** A server that answers dry runs with what would be, and stores nothing. */
function dryServer(): Client {
  const answer = (verb: string, object: Thing, options?: { dryRun?: boolean }): Promise<Thing> => {
    sent.push(`${verb}${options?.dryRun ? " dry" : ""}`);
    return Promise.resolve(object);
  };
  const gone = (verb: string, options?: { dryRun?: boolean }): Promise<true> => {
    sent.push(`${verb}${options?.dryRun ? " dry" : ""}`);
    return Promise.resolve(true);
  };
  const dry = {
    ...api.client,
    create: (_kind: unknown, object: Thing, options: WriteOptions) => answer("create", object, options),
    update: (_kind: unknown, object: Thing, options: WriteOptions) => answer("update", object, options),
    apply: (_kind: unknown, object: Thing, options: WriteOptions) => answer("apply", object, options),
    applyOwned: (_kind: unknown, object: Thing, options: WriteOptions) => answer("apply", object, options),
    patch: (_kind: unknown, _key: unknown, patch: { body: Thing }, options: WriteOptions) =>
      answer("patch", { ...api.get(things, KEY)!, ...patch.body }, options),
    updateStatus: (_kind: unknown, object: Thing, options: WriteOptions) => answer("status", object, options),
    patchStatus: (_kind: unknown, object: Thing, _next: object, options: WriteOptions) =>
      answer("status", object, options),
    delete: (_kind: unknown, _key: unknown, options: DeleteOptions) => gone("delete", options),
    deleteIfExists: (_kind: unknown, _key: unknown, options: DeleteOptions) => gone("delete", options),
    deleteCollection: (_kind: unknown, options: DeleteOptions) => gone("deletecollection", options),
    evict: (_key: unknown, options: DeleteOptions) => gone("evict", options),
    raw: (method: string, path: string) => {
      sent.push(`${method} ${path}`);
      return Promise.resolve({});
    },
    forController: () => dry,
  };
  return dry as unknown as Client;
}

beforeEach(() => {
  api = memoryApi();
  events = [];
  sent = [];
  lines.length = 0;
  run = { controller: "echo", key: "a/echo", kind: things, log, onPanic: () => {} };
  planner = createPlanner({ cache: { informers: () => [] }, clock: fakeClock(), currentRun: () => run });
  const to = { log, events: { record: (_regarding: unknown, event: EventInput) => void events.push(event) } };
  client = planner.client("echo", dryServer(), to);
});

const told = (): unknown[] => lines.filter(({ msg }) => msg === "Planned change").map(({ fields }) => fields);

/** One run that makes these writes; the number of runs in a row that planned the same. */
async function pass(writes: () => Promise<unknown>, whole = true): Promise<number> {
  const runs = planner.runs("echo");
  runs.begin("a/echo");
  await writes();
  return runs.end("a/echo", whole);
}

const spec = (text: string): Thing => thing("echo", { metadata: KEY, spec: { text } });

describe("planning client", () => {
  it("CORE-241 sends every write as a dry run, under another name too", async () => {
    api.put(things, spec("old"));
    const all = [client, client.forController("other")];
    for (const one of all) {
      await one.create(things, spec("new"));
      await one.update(things, spec("new"), { dryRun: false });
      await one.patch(things, KEY, { type: "merge", body: {} });
      await one.apply(things, spec("new"));
      await one.applyOwned(things, spec("new"));
      await one.updateStatus(things, spec("new"));
      await one.patchStatus(things, spec("new"), {});
      await one.delete(things, KEY);
      await one.deleteIfExists(things, KEY, { dryRun: false });
      await one.deleteCollection(things, { namespace: "a" });
      await one.evict(KEY);
    }
    expect(sent).toHaveLength(22);
    expect(sent.filter((write) => !write.endsWith(" dry"))).toEqual([]);
    sent = [];
    await client.raw("GET", "/version");
    await client.raw("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {});
    await client.raw("PUT", "/api/v1/x?force=true", {});
    expect(sent).toEqual([
      "GET /version",
      "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      "PUT /api/v1/x?force=true&dryRun=All",
    ]);
  });

  it("CORE-242 tells writes with what they change; not status, not what changes nothing, not a dry run of the caller's own", async () => {
    api.put(things, spec("old"));
    await pass(async () => {
      await client.applyOwned(things, spec("new"));
      await client.applyOwned(things, spec("old"));
      await client.patchStatus(things, spec("old"), { ready: true });
      await client.create(things, spec("check"), { dryRun: true });
      await client.create(things, thing("b", { spec: { text: "b" } }));
      await client.deleteIfExists(things, KEY);
    });
    expect(told()).toEqual([
      { write: "apply things.test.quartet.io a/echo", changes: ["~ spec.text: old -> new"] },
      {
        write: expect.stringMatching(/^create things\.test\.quartet\.io .*b$/),
        changes: expect.arrayContaining(["+ spec.text: b"]),
      },
      { write: "delete things.test.quartet.io a/echo", changes: [] },
    ]);
    expect(events[0]).toMatchObject({
      type: "Normal",
      reason: "PlannedChange",
      note: "would apply things.test.quartet.io a/echo: ~ spec.text: old -> new",
    });
    expect(events).toHaveLength(3);
  });
});

it("CORE-242 a write to what may not be read is told without what it changes", async () => {
  const forbidden = new ApiError({
    code: 403,
    reason: "Forbidden",
    message: "no",
    details: { causes: [] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "GET",
    path: "/",
  });
  const server = { ...dryServer(), get: () => Promise.reject(forbidden) } as Client;
  await planner.client("echo", server, { log, events: { record: () => {} } }).applyOwned(things, spec("x"));
  expect(told()).toEqual([{ write: "apply things.test.quartet.io a/echo", changes: [] }]);
});

describe("plans", () => {
  beforeEach(() => void api.put(things, spec("old")));
  const apply = (text: string) => (): Promise<unknown> => client.applyOwned(things, spec(text));

  it("CORE-242 CORE-243 a plan that stays is told once, its repeats are counted, and a new one is told again", async () => {
    expect([await pass(apply("one")), await pass(apply("one")), await pass(apply("one"))]).toEqual([1, 2, 3]);
    expect(told()).toHaveLength(1);
    expect(await pass(apply("two"))).toBe(1);
    expect(told()).toHaveLength(2);
    expect(planner.entries("echo", "a/echo")).toEqual([
      {
        at: expect.any(String),
        write: "apply things.test.quartet.io a/echo",
        changes: ["~ spec.text: old -> two"],
      },
    ]);
    expect(await pass(async () => {})).toBe(0);
    expect(planner.entries("echo", "a/echo")).toEqual([]);
    expect(await pass(apply("two"))).toBe(1);
    expect(told()).toHaveLength(3);
  });

  it("CORE-243 a status that would be written counts as well, though it is not told", async () => {
    const status = (): Promise<unknown> => client.patchStatus(things, spec("old"), { ready: true });
    expect([await pass(status), await pass(status), await pass(async () => {})]).toEqual([1, 2, 0]);
    expect([told(), planner.entries("echo", "a/echo")]).toEqual([[], []]);
  });

  it("CORE-242 writes to one object in one run are told one by one, and once", async () => {
    const both = async (): Promise<void> => {
      await apply("one")();
      await apply("two")();
    };
    await pass(both);
    expect(await pass(both)).toBe(2);
    expect(told()).toHaveLength(2);
  });

  it("CORE-242 a run that failed on its way does not make the next one tell everything again", async () => {
    const second = (): Promise<unknown> => client.deleteIfExists(things, KEY);
    const both = async (): Promise<void> => {
      await apply("one")();
      await second();
    };
    await pass(both);
    await pass(apply("one"), false);
    await pass(both);
    expect(told()).toHaveLength(2);
  });

  it("CORE-242 a write outside of any reconcile is told once as well", async () => {
    run = undefined;
    await apply("one")();
    await apply("one")();
    expect(told()).toHaveLength(1);
  });
});
