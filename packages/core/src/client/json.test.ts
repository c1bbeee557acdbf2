import type { V1Lease, V1Pod } from "@kubernetes/client-node";
import fc from "fast-check";
import { expect, it } from "vitest";
import { NestingError } from "../nesting.ts";
import { defineKind, type Json, type KubeObject } from "../object.ts";
import { nested } from "../testkit/nested.ts";
import { decodeJson, encodeJson, holdsUnsafeIntegers } from "./json.ts";
import { answer, object, type Received, serve, WIDGET, type Widget } from "./testkit.testkit.ts";
import type { Client } from "./types.ts";

const KEY = { namespace: "ns", name: "a" };

/** A server that answers with a text and shows what it was sent. */
async function holding(text: () => string): Promise<{ client: Client; last: () => Received | undefined }> {
  const { server, client } = await serve((_, response) => answer(response, 200, text()));
  return { client, last: () => server.requests.at(-1) };
}

/** Random JSON whose member names include those that JavaScript objects treat specially. */
const anyJson = fc.letrec<{ value: unknown }>((tie) => {
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "a.b/c"),
  );
  const members = fc.array(fc.tuple(names, tie("value")), { maxLength: 4 });
  return {
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, false, {}, [], "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z"),
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.maxSafeInteger(),
      fc.array(tie("value"), { maxLength: 4 }),
      members.map((entries) => Object.fromEntries(entries)),
    ),
  };
}).value;

it("CORE-131 CORE-132 sends back the very JSON that it got, for random objects", async () => {
  let stored = "";
  const { client, last } = await holding(() => stored);
  const run = async (extra: unknown, metadata: unknown): Promise<void> => {
    const fields = { spec: extra, "x-unknown": extra, status: {}, list: [], nothing: null };
    const base = object(WIDGET, "a", { resourceVersion: "1", futureMeta: metadata });
    // The server escapes as Go does.
    stored = encodeJson({ ...base, ...fields });
    const read = await client.get(WIDGET, KEY);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    await client.update(WIDGET, read);
    expect(last()?.body).toBe(stored);
  };
  await fc.assert(
    fc.asyncProperty(
      anyJson.filter((value) => !holdsUnsafeIntegers(value)),
      anyJson.filter((value) => !holdsUnsafeIntegers(value)),
      run,
    ),
    { numRuns: 150 },
  );
});

it("CORE-131 keeps the order of members, null, empty values and times as they came", async () => {
  const text =
    '{"kind":"Widget","spec":{"z":null,"a":{},"m":[],"when":"2026-01-02T03:04:05.000006Z","f":1.5e-7},' +
    '"apiVersion":"example.io/v1","metadata":{"namespace":"ns","name":"a","resourceVersion":"7",' +
    '"creationTimestamp":"2026-01-02T03:04:05Z","__proto__":{"polluted":true}},"__proto__":{"x":1}}';
  const { client, last } = await holding(() => text);
  const read = await client.get(WIDGET, KEY);
  expect((read as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.hasOwn(read, "__proto__")).toBe(true);
  await client.update(WIDGET, read);
  expect(last()?.body).toBe(text);
  await client.apply(WIDGET, read);
  expect(JSON.parse(last()?.body ?? "")).toEqual(
    JSON.parse(text.replace('"resourceVersion":"7","creationTimestamp":"2026-01-02T03:04:05Z",', "")),
  );
  expect(last()?.body).toContain('"__proto__":{"polluted":true}');
});

it("CORE-131 items of lists keep all their fields", async () => {
  const item = {
    metadata: { name: "a", futureMeta: 1 },
    spec: { futureSpec: null },
    ["__proto__"]: { x: 1 },
  };
  const { client } = await holding(() =>
    JSON.stringify({ kind: "WidgetList", apiVersion: "example.io/v1", metadata: {}, items: [item] }),
  );
  const { items } = await client.list(WIDGET);
  expect(items).toEqual([{ apiVersion: "example.io/v1", kind: "Widget", ...item }]);
});

it("CORE-132 types times of client-node as the strings that they are", async () => {
  const pods = defineKind<Json<V1Pod> & KubeObject>({
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    namespaced: true,
  });
  const pod = object(pods, "a", { creationTimestamp: "2026-01-02T03:04:05Z" });
  const { client } = await holding(() => JSON.stringify(pod));
  const created: string | undefined = (await client.get(pods, KEY)).metadata.creationTimestamp;
  const lease: Json<V1Lease> = { spec: { renewTime: "2026-01-02T03:04:05.000006Z" } };
  const renewed: string | undefined = lease.spec?.renewTime;
  expect([created, renewed]).toEqual(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z"]);
});

it.each(["9007199254740993", "-9007199254740993", "9007199254740992", "9223372036854775807"])(
  "CORE-134 refuses to write an object back that holds %s, but patches it",
  async (integer) => {
    const text = `{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","resourceVersion":"1"},"spec":{"deep":[{"big":${integer}}]}}`;
    const { client, last } = await holding(() => text);
    const read = await client.get(WIDGET, KEY);
    const copy: Widget = structuredClone(read);
    for (const object of [read, copy]) {
      await expect(client.update(WIDGET, object)).rejects.toThrow(
        "Widget ns/a: holds integers beyond 2^53-1, use a patch",
      );
      await expect(client.updateStatus(WIDGET, object)).rejects.toThrow("use a patch");
      await expect(client.applyOwned(WIDGET, object)).rejects.toThrow("use a patch");
    }
    expect(last()?.method).toBe("GET");
    const patch = { type: "merge", body: { spec: { other: 1 } } } as const;
    await expect(client.patch(WIDGET, KEY, patch)).resolves.toBeDefined();
    expect(last()?.method).toBe("PATCH");
  },
);

it("CORE-134 writes back what only looks like a large integer", async () => {
  const spec = {
    digits: "90071992547409931234",
    max: Number.MAX_SAFE_INTEGER,
    tiny: 1.2345678901234567,
    e: 1e300,
  };
  const text = JSON.stringify({ ...object(WIDGET, "a", { resourceVersion: "12345678901234567890" }), spec });
  const { client, last } = await holding(() => text);
  await client.update(WIDGET, await client.get(WIDGET, KEY));
  expect(last()?.body).toBe(text);
});

it("CORE-191 an object nested 100 000 deep can be searched, and is refused when it is to be sent", async () => {
  expect(holdsUnsafeIntegers(nested(100_000))).toBe(false);
  expect(holdsUnsafeIntegers({ a: nested(100_000), b: 2 ** 60 })).toBe(true);
  expect(() => encodeJson(nested(100_000))).toThrow(NestingError);
  const { client } = await holding(() => "{}");
  const deep = { ...object(WIDGET, "a"), spec: nested(100_000) } as Widget;
  await expect(client.create(WIDGET, deep)).rejects.toThrow("nested deeper than 200 levels");
});

it("CORE-131 text is escaped as Go's encoder does, and means the same", () => {
  const value = { text: 'a<b>&c \u2028\u2029 "é"', "<key>": 1 };
  const text = encodeJson(value);
  expect(text).toBe('{"text":"a\\u003cb\\u003e\\u0026c \\u2028\\u2029 \\"é\\"","\\u003ckey\\u003e":1}');
  expect(decodeJson(text)).toEqual(value);
});
