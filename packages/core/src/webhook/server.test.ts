import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import fastJsonPatch from "fast-json-patch";
import { afterEach, describe, expect, it, vi } from "vitest";
import { currentAdmission } from "../admission-context.ts";
import { things } from "../cache/fixtures.testkit.ts";
import { newAuthority } from "../client/certificates.testkit.ts";
import type { Client } from "../client/types.ts";
import type { SourceReader } from "../controller/types.ts";
import { defineKind, type Kind, type ObjectKey } from "../object.ts";
import type { BoundWebhook } from "./bind.ts";
import { createCa, issueServing } from "./certificates.ts";
import type { AdmissionResponse } from "./review.ts";
import type { WebhookServerOptions } from "./server.ts";
import type { Mutate, Validate } from "./types.ts";
import { type Echo, echo, nothingRead, review, type TestServer, testServer } from "./webhook.testkit.ts";

const common = { reads: [], hasSideEffects: false, client: {} as Client };
const validating = (handle: Validate<Echo>, more: Partial<BoundWebhook> = {}): BoundWebhook =>
  ({
    ...common,
    type: "validating",
    name: "v.quartet.io",
    path: "/v",
    handle,
    ...more,
  }) as unknown as BoundWebhook;
const mutating = (handle: Mutate<Echo>): BoundWebhook =>
  ({ ...common, type: "mutating", name: "m.quartet.io", path: "/m", handle }) as unknown as BoundWebhook;

const open: TestServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ server }) => server.close()));
});
async function serve(
  webhooks: BoundWebhook[],
  options: Partial<WebhookServerOptions> = {},
): Promise<TestServer> {
  const server = await testServer({ webhooks, ...options });
  open.push(server);
  return server;
}
async function respond(webhook: BoundWebhook, request: object): Promise<AdmissionResponse> {
  const { call } = await serve([webhook]);
  const { code, body } = await call(webhook.path, { body: review(request) });
  expect(code).toBe(200);
  return body.response as AdmissionResponse;
}

describe("webhook server", () => {
  it("CORE-331 takes POST only and knows its paths only", async () => {
    const { call } = await serve([validating(() => [])]);
    expect((await call("/v", { method: "GET" })).code).toBe(405);
    expect((await call("/other", { body: review({}) })).code).toBe(404);
  });

  it("CORE-331 answers 404 to a request target that is no URL, and lives on", async () => {
    const { call } = await serve([validating(() => [])]);
    expect((await call("//")).code).toBe(404);
    expect((await call("/v", { body: review({ object: echo({}) }) })).code).toBe(200);
  });

  it("CORE-262 ends soon: after the answer of a call that runs, and in spite of connections that say nothing", async () => {
    const began = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const { server, ca } = await testServer({
      webhooks: [
        validating(async () => {
          began.resolve();
          await end.promise;
          return [];
        }),
      ],
    });
    const silent = connect({ host: "127.0.0.1", port: server.port }).on("error", () => {});
    await once(silent, "connect");
    const agent = new Agent({ keepAlive: true, ca });
    const target = { host: "127.0.0.1", port: server.port, path: "/v", method: "POST", agent };
    const call = request({ ...target, headers: { "content-type": "application/json" } });
    const answered = once(call, "response") as Promise<[IncomingMessage]>;
    call.end(JSON.stringify(review({ object: echo({}) })));
    await began.promise;
    const closed = server.close();
    end.resolve();
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(200);
    const late = Symbol("late");
    expect(await Promise.race([closed, sleep(10_000, late)])).not.toBe(late);
    agent.destroy();
    silent.destroy();
  });

  it("CORE-332 refuses bodies that are not an AdmissionReview v1", async () => {
    const { call } = await serve([validating(() => [])]);
    expect((await call("/v", { contentType: "text/plain", text: "{}" })).code).toBe(415);
    expect((await call("/v", { text: "" })).code).toBe(400);
    expect((await call("/v", { text: "{" })).code).toBe(400);
    expect(
      (await call("/v", { body: { apiVersion: "admission.k8s.io/v1beta1", kind: "AdmissionReview" } })).code,
    ).toBe(400);
    expect((await call("/v", { text: `"${"x".repeat(7 * 1024 * 1024)}"` })).code).toBe(413);
  });

  it("CORE-191 refuses an object nested too deep, unless what is stored is, too", async () => {
    const deep = `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`;
    const text = (stored: string, levels: string): string =>
      JSON.stringify(review({ operation: "UPDATE", object: echo({}), oldObject: echo({}) }))
        .replace('"oldObject":{', `"oldObject":{"deep":${stored},`)
        .replace('"object":{', `"object":{"deep":${levels},`);
    let handled = 0;
    const handle = (): [] => {
      handled++;
      return [];
    };
    const { call } = await serve([validating(handle), mutating((object) => object)]);
    for (const path of ["/v", "/m"]) {
      const refused = await call(path, { text: text("1", deep) });
      expect(refused.body.response).toMatchObject({
        allowed: false,
        status: { code: 422, message: expect.stringContaining("nested deeper than 200 levels") },
      });
      expect((await call(path, { text: text(deep, deep) })).body.response).toMatchObject({ allowed: true });
      expect((await call(path, { text: text(deep, "1") })).body.response).toMatchObject({ allowed: true });
    }
    expect(handled).toBe(1);
  });

  it("CORE-340 answers HTTP 500 when the handler throws or takes longer than the API server waits", async () => {
    const crash = await serve([
      validating(() => {
        throw new Error("boom");
      }),
    ]);
    expect((await crash.call("/v?timeout=10s", { body: review({ object: echo({}) }) })).code).toBe(500);
    let aborted = false;
    const slow = await serve([
      validating((_object, ctx) => {
        ctx.signal.addEventListener("abort", () => {
          aborted = true;
        });
        return new Promise(() => {});
      }),
    ]);
    expect((await slow.call("/v?timeout=550ms", { body: review({ object: echo({}) }) })).code).toBe(500);
    expect(aborted).toBe(true);
  });

  it("CORE-344 answers HTTP 500 until what the handler reads is there, while others answer", async () => {
    let synced = false;
    const reading = validating(async (object, { cache }) => {
      const found = await cache.get(things, { namespace: "", name: object.metadata.name! });
      return found === undefined ? [{ path: "metadata.name", message: "must name a thing" }] : [];
    });
    const { call } = await serve([reading, validating(() => [], { path: "/other" })], {
      sourcesOf: (webhook) =>
        webhook === reading
          ? { reader: { get: async () => undefined } as unknown as SourceReader, synced: () => synced }
          : nothingRead,
    });
    const ask = async (path: string) => call(path, { body: review({ object: echo({}) }) });
    expect([(await ask("/v")).code, (await ask("/other")).code]).toEqual([500, 200]);
    synced = true;
    expect((await ask("/v")).body.response).toMatchObject({ allowed: false });
  });

  it("CORE-332 large bodies wait for each other, small ones do not, and one that never comes ends in time", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let running = 0;
    const slow = validating(async () => {
      running++;
      await held;
      return [];
    });
    const quick = validating(() => [], { path: "/quick" });
    const { server, ca, call } = await serve([slow, quick], { maxBodyBytes: 1024 * 1024 });
    const large = { body: review({ object: echo({ text: "x".repeat(900_000) }) }) };
    const calls = [call("/v", large), call("/v", large)];
    await vi.waitFor(() => expect(running).toBe(1));
    expect((await call("/quick", { body: review({ object: echo({}) }) })).code).toBe(200);
    expect(running).toBe(1);
    release();
    expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([200, 200]);
    const unfinished = request({
      host: "127.0.0.1",
      port: server.port,
      path: "/quick?timeout=600ms",
      method: "POST",
      ca,
      headers: { "content-type": "application/json", "content-length": "1000" },
      agent: false,
    });
    const ended = new Promise((resolve) => unfinished.once("close", resolve));
    unfinished.on("error", () => {});
    unfinished.write("{");
    await ended;
  });

  it("CORE-331 connections that say nothing make room for calls", async () => {
    const { server, call } = await serve([validating(() => [])], { maxConnections: 3 });
    const silent = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const socket = connect(server.port, "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        return socket;
      }),
    );
    for (let turn = 0; turn < 4; turn++) {
      expect((await call("/v", { body: review({ object: echo({}) }) })).code).toBe(200);
    }
    await vi.waitFor(() => expect(silent.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(2));
    for (const socket of silent) socket.destroy();
  });

  it("CORE-344 a handler reads in the namespace of its request alone, and of cluster-scoped kinds", async () => {
    const stored = ["t", "other"].map((namespace) => echo({ text: namespace }, { namespace }));
    const reader = {
      get: async (_kind: Kind, { namespace }: ObjectKey) =>
        stored.find(({ metadata }) => metadata.namespace === namespace),
      list: async (_kind: Kind, filter: { namespace?: string } = {}) =>
        stored.filter(
          ({ metadata }) => filter.namespace === undefined || filter.namespace === metadata.namespace,
        ),
      byIndex: () => stored,
    } as unknown as SourceReader;
    const echoes = defineKind({ ...things, group: "test.quartet.io", namespaced: true });
    const zones = defineKind({ ...things, namespaced: false });
    const found: unknown[] = [];
    const reading = validating(async (_object, { cache }) => {
      found.length = 0;
      found.push((await cache.list(echoes)).length, cache.byIndex(echoes, "text", "x").length);
      found.push((await cache.list(zones)).length);
      found.push(await cache.get(echoes, { namespace: "other", name: "a" }));
      return [];
    });
    const { call } = await serve([reading], { sourcesOf: () => ({ reader, synced: () => true }) });
    const ask = (namespace?: string) => call("/v", { body: review({ namespace, object: echo({}) }) });
    expect((await ask("t")).code).toBe(500);
    expect(found).toEqual([1, 1, 2]);
    expect((await ask()).code).toBe(200);
    expect(found).toHaveLength(4);
  });

  it("CORE-349 serves a new certificate without a restart", async () => {
    const { server, call } = await serve([validating(() => [])]);
    const otherCa = await createCa(Date.now());
    server.setCertificate(await issueServing(otherCa, ["127.0.0.1"], Date.now()));
    await expect(call("/v", { body: review({ object: echo({}) }) })).rejects.toThrow(/certificate/);
  });

  it("CORE-352 with a client CA only its clients are answered, after a new certificate too", async () => {
    const [ours, theirs] = [await newAuthority(), await newAuthority()];
    const { renew, call } = await serve([validating(() => [])], { clientCa: ours.ca });
    const body = review({ object: echo({}) });
    const [apiserver, stranger] = [
      await ours.client("kube-apiserver"),
      await theirs.client("kube-apiserver"),
    ];
    const check = async (): Promise<void> => {
      expect((await call("/v", { body, client: apiserver })).code).toBe(200);
      await expect(call("/v", { body })).rejects.toThrow();
      await expect(call("/v", { body, client: stranger })).rejects.toThrow();
    };
    await check();
    await renew();
    await check();
  });
});

describe("admission", () => {
  it("CORE-333 echoes the uid and says 200 inside when it allows", async () => {
    expect(
      await respond(
        validating(() => []),
        { uid: "u-7", object: echo({}) },
      ),
    ).toEqual({
      uid: "u-7",
      allowed: true,
      status: { code: 200 },
    });
  });

  it("CORE-334 sends the difference as a JSON patch, and none when nothing changed", async () => {
    const hook = mutating((object) => ({ ...object, spec: { color: "grey", ...object.spec } }));
    const raw = echo({ text: "x", keep: [1, 2.5, null] });
    const response = await respond(hook, { object: raw });
    expect(response.patchType).toBe("JSONPatch");
    const patch = JSON.parse(Buffer.from(response.patch!, "base64").toString("utf8"));
    expect(patch).toEqual([{ op: "add", path: "/spec/color", value: "grey" }]);
    const again = await respond(hook, { object: fastJsonPatch.applyPatch(raw, patch).newDocument });
    expect(again).not.toHaveProperty("patch");
    expect(again).not.toHaveProperty("patchType");
  });

  it("CORE-334 a patch turns the object into the result, whatever the object is", async () => {
    const { call } = await serve([mutating((object) => ({ ...object, spec: { was: object.spec, n: 1 } }))]);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (spec) => {
        fc.pre(!Object.keys(spec).includes("__proto__") && !JSON.stringify(spec).includes("__proto__"));
        const raw = echo(JSON.parse(JSON.stringify(spec)));
        const { body } = await call("/m", { body: review({ object: raw }) });
        const patch = Buffer.from((body.response as AdmissionResponse).patch!, "base64").toString("utf8");
        const result = fastJsonPatch.applyPatch(structuredClone(raw), JSON.parse(patch)).newDocument;
        expect(result.spec).toEqual({ was: raw.spec, n: 1 });
      }),
      { numRuns: 50 },
    );
  });

  it("CORE-335 leaves a DELETE alone", async () => {
    const hook = mutating(() => {
      throw new Error("must not be called");
    });
    expect(await respond(hook, { operation: "DELETE", object: null, oldObject: echo({}) })).toEqual({
      uid: "u-1",
      allowed: true,
      status: { code: 200 },
    });
  });

  it("CORE-337 refuses with the fields' paths and messages, or plainly", async () => {
    const fields = await respond(
      validating(() => [
        { path: "spec.text", message: "must not be empty", reason: "FieldValueRequired" },
        { path: "spec.color", message: "is unknown" },
      ]),
      { object: echo({}) },
    );
    expect(fields.status?.details?.causes.map(({ reason }) => reason)).toEqual([
      "FieldValueRequired",
      "FieldValueInvalid",
    ]);
    expect(fields.allowed).toBe(false);
    expect(fields.status).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: 'Echo "a" is invalid: spec.text: must not be empty, spec.color: is unknown',
    });
    expect(fields.status?.details?.causes[0]).toMatchObject({
      field: "spec.text",
      message: "must not be empty",
    });
    const plain = await respond(
      validating(() => ({ refused: "not today" })),
      { object: echo({}) },
    );
    expect(plain.status).toEqual({ code: 403, reason: "Forbidden", message: "not today" });
    const wrong = await respond(
      mutating(() => ({ refused: "not like this", code: 400 })),
      { object: echo({}) },
    );
    expect(wrong).toMatchObject({
      allowed: false,
      status: { code: 400, reason: "BadRequest", message: "not like this" },
    });
    expect(wrong.patch).toBeUndefined();
  });

  it("CORE-338 cuts warnings, puts them on one line, and keeps them beside a refusal", async () => {
    const response = await respond(
      validating((_object, ctx) => {
        ctx.warn("two\nlines");
        for (let i = 0; i < 30; i += 1) ctx.warn("w".repeat(400));
        return { refused: "no" };
      }),
      { object: echo({}) },
    );
    expect(response.allowed).toBe(false);
    expect(response.warnings?.[0]).toBe("two lines");
    expect(Math.max(...response.warnings!.map((text) => text.length))).toBe(256);
    expect(response.warnings!.join("").length).toBeLessThanOrEqual(4096);
  });

  it("CORE-339 never refuses an update that leaves the spec alone or concerns an object being deleted", async () => {
    const never = validating(() => ({ refused: "always" }));
    const old = echo({ text: "" }, { finalizers: ["a/b"] });
    const update = { operation: "UPDATE", oldObject: old };
    expect((await respond(never, { ...update, object: echo({ text: "" }) })).allowed).toBe(true);
    const deleting = echo({ text: "new" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect((await respond(never, { ...update, object: deleting })).allowed).toBe(true);
    expect((await respond(never, { ...update, object: echo({ text: "new" }) })).allowed).toBe(false);
  });

  it("CORE-339 an update of labels, annotations or owners alone is judged by what it says of metadata", async () => {
    const judge = validating((object) =>
      ["spec.text", "metadata.labels", "metadata[annotations]", "metadataish"]
        .filter((path) => JSON.stringify(object).includes(path))
        .map((path) => ({ path, message: "is not allowed" })),
    );
    const said = async (metadata: object, text: string): Promise<unknown> => {
      const answer = await respond(judge, {
        operation: "UPDATE",
        oldObject: echo({ text: "spec.text" }),
        object: echo({ text }, metadata),
      });
      return answer.allowed || answer.status?.details?.causes.map(({ field }) => field);
    };
    expect(await said({ labels: { a: "metadata.labels" } }, "spec.text")).toEqual(["metadata.labels"]);
    expect(await said({ annotations: { a: "metadata[annotations]" } }, "spec.text")).toEqual([
      "metadata[annotations]",
    ]);
    expect(await said({ labels: { a: "metadataish" } }, "spec.text")).toBe(true);
    expect(await said({ labels: { a: "fine" } }, "spec.text")).toBe(true);
    expect(await said({ finalizers: ["metadata.labels/x"], managedFields: [] }, "spec.text")).toBe(true);
    expect(await said({ labels: { a: "metadata.labels" } }, "spec.text, changed")).toEqual([
      "spec.text",
      "metadata.labels",
    ]);
  });

  it("CORE-339 a metadata update can be refused as a whole, and of a status hook the status is judged", async () => {
    const never = validating(() => ({ refused: "always" }));
    const update = { operation: "UPDATE", oldObject: echo({ text: "a" }) };
    const labelled = { ...update, object: echo({ text: "a" }, { labels: { a: "b" } }) };
    expect((await respond(never, labelled)).allowed).toBe(false);
    const reported = { ...update, object: { ...echo({ text: "a" }), status: { ready: true } } };
    expect((await respond(never, reported)).allowed).toBe(true);
    expect((await respond(never, { ...reported, subResource: "status" })).allowed).toBe(false);
  });

  it("CORE-341 a handler with side effects may write, unless the request is a dry run; others may not", async () => {
    const mayWrite: boolean[] = [];
    const note = (hasSideEffects: boolean) =>
      validating(
        async () => {
          await Promise.resolve();
          mayWrite.push(currentAdmission()?.mayWrite === true);
          return [];
        },
        { hasSideEffects },
      );
    await respond(note(true), { object: echo({}) });
    await respond(note(true), { object: echo({}), dryRun: true });
    await respond(note(false), { object: echo({}) });
    expect(mayWrite).toEqual([true, false, false]);
    expect(currentAdmission()).toBeUndefined();
  });

  it("CORE-341 tells the handler of a dry run", async () => {
    let dryRun: boolean | undefined;
    const hook = validating((_object, ctx) => {
      dryRun = ctx.dryRun;
      return [];
    });
    await respond(hook, { dryRun: true, object: echo({}) });
    expect(dryRun).toBe(true);
  });
});
