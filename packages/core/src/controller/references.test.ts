import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiError, type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import { type DeepReadonly, type Kind, keyOf, type ObjectKey } from "../object.ts";
import type { ControllerDeps } from "./controller.ts";
import { openScene, type Recorder, recorder, type Scene } from "./scene.testkit.ts";
import type { Controller, Debounce, Reference } from "./types.ts";

const parts: Kind<Thing> = { ...things, kind: "Part", plural: "parts" };

let scene: Scene;
/** Reads of parts by name, and what they answer instead. */
let gets: string[];
let refuse: (name: string) => unknown;
beforeEach(() => {
  scene = openScene();
  gets = [];
  refuse = () => undefined;
});
afterEach(() => scene.close());

const outlets: ControllerDeps["outlets"] = () => ({
  ...scene.deps.outlets(true),
  client: {
    ...scene.server.client,
    get: async (kind: Kind, key: ObjectKey) => {
      gets.push(`${key.namespace}/${key.name}`);
      const error = refuse(key.name);
      if (error !== undefined) throw error;
      return scene.server.client.get(kind, key);
    },
  } as Client,
});
type Referrer = DeepReadonly<Thing>;
const refsOf = ({ spec }: Referrer): string[] => (spec?.owner ?? "").split(",").filter((name) => name !== "");
const put = (name: string, owner: string, namespace = "t"): Thing =>
  scene.server.put(thing(name, { namespace, spec: { owner } }));
const putPart = (name: string, text: string, namespace = "t"): Thing =>
  scene.server.put(thing(name, { namespace, kind: "Part", spec: { owner: text } }), parts);
const watchesOfParts = (): number =>
  scene.cache.informers().filter(({ kind }) => kind.kind === "Part").length;

/** What reconciles have read, as `resource: part=text`. */
async function start(
  options: { debounce?: Debounce; elsewhere?: boolean; refs?: (object: Referrer) => Reference[] } = {},
): Promise<{ read: string[]; controller: Controller } & Recorder> {
  const { refs = refsOf, ...more } = options;
  const read: string[] = [];
  const record = recorder(async (key, { cache }) => {
    const resource = await cache.get(things, key);
    const found: string[] = [];
    for (const name of resource === undefined ? [] : refsOf(resource)) {
      const part = await cache.get(parts, { ...key, name }).catch((error: Error) => error);
      const text = part instanceof Error ? part.message : (part?.spec?.owner ?? "none");
      found.push(`${name}=${text}`);
    }
    read.push(`${key.name}: ${found.join(" ")}`);
    return undefined;
  });
  const builder = scene.builder("echo", { outlets }).for(things);
  const controller = builder.references(parts, refs, more).complete(record.reconcile);
  await scene.start(controller);
  return { ...record, read, controller };
}

it("CORE-245 reads what a resource refers to, and queues exactly those who refer to what changes", async () => {
  putPart("p", "1");
  put("a", "p");
  put("b", "p,missing");
  put("c", "other");
  const { read } = await start();
  await scene.clock.flush();
  expect(read.splice(0).sort()).toEqual(["a: p=1", "b: p=1 missing=none", "c: other=none"]);
  putPart("p", "2");
  await scene.clock.flush();
  expect(read.splice(0).sort()).toEqual(["a: p=2", "b: p=2 missing=none"]);
  putPart("missing", "x");
  putPart("unrelated", "x");
  await scene.clock.flush();
  expect(read.splice(0)).toEqual(["b: p=2 missing=x"]);
  scene.server.remove({ namespace: "t", name: "p" }, parts);
  await scene.clock.flush();
  expect(read.splice(0).sort()).toEqual(["a: p=none", "b: p=none missing=x"]);
});

it("CORE-245 one watch carries all names of a kind and namespace, each read once, and ends with the last of them", async () => {
  for (let i = 0; i < 40; i += 1) {
    putPart(`p${i}`, "1");
    put(`a${i}`, `p${i},p${(i + 1) % 40}`);
  }
  putPart("p", "1", "u");
  put("other", "p", "u");
  const { read } = await start();
  await scene.clock.advance(1_000);
  expect(read).toHaveLength(41);
  expect(watchesOfParts()).toBe(2);
  expect(gets.sort()).toEqual([...Array.from({ length: 40 }, (_, i) => `t/p${i}`), "u/p"].sort());
  for (let i = 0; i < 40; i += 1) scene.server.remove({ namespace: "t", name: `a${i}` });
  await scene.clock.advance(1_000);
  expect(watchesOfParts()).toBe(1);
});

it("CORE-245 a reference that is new is read before its resource is handed out, and an old one is followed no more", async () => {
  putPart("p", "1");
  putPart("q", "2");
  put("a", "p");
  const { read } = await start();
  await scene.clock.flush();
  scene.server.put(thing("a", { namespace: "t", metadata: { generation: 2 }, spec: { owner: "q" } }));
  await scene.clock.flush();
  expect(read.splice(0)).toEqual(["a: p=1", "a: q=2"]);
  putPart("p", "3");
  await scene.clock.flush();
  expect(read).toEqual([]);
});

it("CORE-245 an impossible name is asked for by no request and holds up nobody: there is no such object", async () => {
  const impossible = ["a=b", "..", "p/x", "P", "x".repeat(254), "ä", ""];
  for (let i = 0; i < 24; i += 1) put(`evil${i}`, impossible[i % impossible.length]!);
  put("good", "p");
  putPart("p", "1");
  const { read } = await start();
  await scene.clock.flush();
  expect(read).toHaveLength(25);
  expect(read).toContain("good: p=1");
  expect(read).toContain("evil0: a=b=none");
  expect(gets).toEqual(["t/p"]);
});

it("CORE-245 waits for what does not answer outside the workers, once and for 10 s, and then says so", async () => {
  let hang = true;
  refuse = (name) => (hang && name === "slow" ? apiError(500, "etcd is on fire") : undefined);
  const hanging = new Promise<never>(() => {});
  const { get } = scene.server.client;
  scene.server.client.get = ((kind: Kind, key: ObjectKey) =>
    hang && key.name === "hung" ? hanging : get(kind, key)) as Client["get"];
  for (const name of ["slow", "hung", "p"]) putPart(name, "1");
  for (let i = 0; i < 24; i += 1) put(`evil${i}`, "hung");
  put("failing", "slow");
  put("good", "p");
  const { read, controller } = await start();
  await scene.clock.flush();
  expect(read.splice(0).sort()).toEqual([
    "failing: slow=Part t/slow cannot be read: etcd is on fire",
    "good: p=1",
  ]);
  expect(controller.explain({ namespace: "t", name: "evil3" })).toMatchObject({
    queue: { state: "absent" },
    waitsFor: ["Part t/hung"],
    nextPass: "when what it waits for has been read, in 10 s at the latest",
  });
  expect(controller.explain({ namespace: "t", name: "good" })).not.toHaveProperty("waitsFor");
  await scene.clock.advance(10_000);
  expect(controller.explain({ namespace: "t", name: "evil3" })).not.toHaveProperty("waitsFor");
  expect(
    read.splice(0).filter((line) => line === "evil3: hung=Part t/hung cannot be read: no answer yet"),
  ).toHaveLength(1);
  hang = false;
  await scene.clock.advance(60_000);
  expect(read).toContain("failing: slow=1");
  scene.server.client.get = get;
});

it("CORE-245 a namespace that may not be read is told of, and read when it may be", async () => {
  scene.server.refuse("watch", apiError(403, "no"), 0);
  putPart("p", "1");
  put("a", "p");
  const refusing = { on: true };
  for (const verb of ["watch", "pages"] as const) {
    const call = scene.server.client[verb].bind(scene.server.client) as (
      kind: Kind,
      options: never,
    ) => AsyncIterable<never>;
    scene.server.client[verb] = ((kind: Kind, options: never) =>
      refusing.on && kind.kind === "Part"
        ? {
            [Symbol.asyncIterator]: () => ({
              next: () => Promise.reject(apiError(403, "parts is forbidden")),
            }),
          }
        : call(kind, options)) as never;
  }
  const { read, controller } = await start();
  await scene.clock.advance(10_000);
  expect([controller.state, ...read.splice(0)]).toEqual([
    "Running",
    "a: p=Part t/p cannot be read: parts is forbidden",
  ]);
  refusing.on = false;
  await scene.clock.advance(301_000);
  expect(read.at(-1)).toBe("a: p=1");
});

it("CORE-246 changes in a row make one reconcile: after the last, and in time after the first", async () => {
  putPart("p", "0");
  put("a", "p");
  const { read, controller } = await start({ debounce: { ms: 500, maxMs: 2_000 } });
  await scene.clock.flush();
  read.splice(0);
  for (let i = 1; i <= 4; i += 1) {
    putPart("p", `${i}`);
    await scene.clock.advance(400);
  }
  expect(read).toEqual([]);
  await scene.clock.advance(100);
  expect(read.splice(0)).toEqual(["a: p=4"]);
  for (let i = 0; i < 10; i += 1) {
    putPart("p", `again-${i}`);
    await scene.clock.flush();
    // Whatever else queues the resource waits with it.
    controller.enqueue({ namespace: "t", name: "a" });
    await scene.clock.advance(400);
  }
  expect(read).toHaveLength(2);
  await scene.clock.advance(2_000);
  expect(read.at(-1)).toBe("a: p=again-9");
});

describe("what a resource may name", () => {
  it("CORE-245 another namespace only where the controller allows it", async () => {
    putPart("p", "1", "secret");
    put("a", "p");
    const elsewhere = (): Reference[] => [{ namespace: "secret", name: "p" }];
    await start({ refs: elsewhere });
    await scene.clock.flush();
    expect([gets, watchesOfParts()]).toEqual([[], 0]);
    const allowed = scene.builder("allowed", { outlets }).for(things);
    const seen: unknown[] = [];
    const { reconcile } = recorder(async (_key, { cache }) => {
      seen.push((await cache.get(parts, { namespace: "secret", name: "p" }))?.spec?.owner);
      return undefined;
    });
    await scene.start(allowed.references(parts, elsewhere, { elsewhere: true }).complete(reconcile));
    await scene.clock.flush();
    expect(seen).toEqual(["1"]);
  });

  it("CORE-245 a hundred objects: more are not followed, and their reads fail", async () => {
    put("a", Array.from({ length: 101 }, (_, i) => `p${i}`).join(","));
    const { read } = await start();
    await scene.clock.flush();
    expect(read[0]).toContain("p99=none p100=Part: more are referred to than the 100 that are followed");
  });

  it("CORE-245 nothing, where that cannot be told: such a resource is set aside alone", async () => {
    put("bad", "p");
    put("good", "p");
    putPart("p", "1");
    const refs = (object: Referrer): Reference[] => {
      if (keyOf(object).name === "bad") throw new Error("cannot read this");
      return refsOf(object);
    };
    const { read } = await start({ refs });
    await scene.clock.flush();
    expect(read.sort()).toEqual([
      "bad: p=parts.v1.test.quartet.io is not cached; echo must declare it as a source",
      "good: p=1",
    ]);
    expect(scene.logged("it cannot be told what an object refers to")).toHaveLength(1);
  });

  it("CORE-245 objects by their labels, each selection by a watch of its own, at most twenty in a namespace", async () => {
    const labelled = (name: string, app: string): void =>
      void scene.server.put(
        thing(name, { kind: "Part", metadata: { name, namespace: "t", labels: { app } } }),
        parts,
      );
    labelled("x1", "x");
    labelled("x2", "x");
    labelled("y1", "y");
    put("a", "x");
    const lists: string[] = [];
    const { reconcile } = recorder(async (key, { cache }) => {
      const app = (await cache.get(things, key))?.spec?.owner ?? "";
      const list = await cache.list(parts, { namespace: "t", labels: { app } }).then(
        (found) => found.map(({ metadata }) => metadata.name).join(),
        (error: Error) => error.message,
      );
      lists.push(`${key.name} ${list}`);
      return undefined;
    });
    const builder = scene.builder("echo", { outlets }).for(things);
    const selection = ({ spec }: Referrer): Reference[] => [{ labels: { app: spec?.owner ?? "" } }];
    await scene.start(builder.references(parts, selection).complete(reconcile));
    await scene.clock.flush();
    expect(lists.splice(0)).toEqual(["a x1,x2"]);
    labelled("x3", "x");
    labelled("y2", "y");
    await scene.clock.flush();
    expect(lists.splice(0)).toEqual(["a x1,x2,x3"]);
    put("bad", "no label value");
    for (let i = 0; i < 20; i += 1) put(`more${i}`, `v${i}`);
    await scene.clock.advance(1_000);
    expect(watchesOfParts()).toBe(20);
    expect(lists.filter((line) => line.includes("more are referred to"))).toHaveLength(1);
  });
});

it("CORE-225 an event handler sees the old and the new object, the kind of the event, and whoever it wants queued", async () => {
  const events: string[] = [];
  const { keys, reconcile } = recorder();
  const controller = scene
    .builder()
    .for(things)
    .watches(parts, () => [], {
      predicates: [() => false],
      onEvent(event, enqueue) {
        const old = event.type === "update" ? `${event.old.spec?.owner}->` : "";
        events.push(`${event.type} ${old}${event.object.spec?.owner}`);
        if (event.type === "delete") enqueue({ namespace: "m", name: "gone" });
      },
    })
    .complete(reconcile);
  await scene.start(controller);
  putPart("p", "1");
  putPart("p", "2");
  scene.server.remove({ namespace: "t", name: "p" }, parts);
  await scene.clock.flush();
  expect(events).toEqual(["add 1", "update 1->2", "delete 2"]);
  expect(keys).toEqual(["m/gone"]);
});
