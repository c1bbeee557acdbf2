import { gzipSync } from "node:zlib";
import { expect, it, vi } from "vitest";
import { defineKind } from "../object.ts";
import { answer, CONFIG_MAP, NODE, object, recordingLog, serve, status, WIDGET } from "./testkit.testkit.ts";
import type { WatchEvent } from "./types.ts";

const ROLE = defineKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
});

/** A server with `count` config maps, in pages of whatever is asked for. */
const paged = (count: number) =>
  serve((request, response) => {
    const limit = Number(request.query.get("limit") ?? count);
    const from = Number(request.query.get("continue") ?? 0);
    const to = Math.min(count, from + limit);
    const items = Array.from({ length: to - from }, (_, i) => ({ metadata: { name: `c${from + i}` } }));
    const metadata = { resourceVersion: "9", ...(to < count ? { continue: String(to) } : {}) };
    answer(response, 200, { kind: "ConfigMapList", apiVersion: "v1", metadata, items });
  });

it("CORE-133 encodes names and namespaces and never changes their case", async () => {
  const { server, client } = await serve((_, response) => answer(response, 200, object(ROLE, "x")));
  await client.get(ROLE, { namespace: "ns", name: "system:Leader/a b%" });
  await client.delete(ROLE, { namespace: "Ns/..", name: "Foo.Bar" });
  await client.getSubresource(ROLE, { namespace: "ns", name: "Ü?x=1#" }, "status");
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles/system%3ALeader%2Fa%20b%25",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/Ns%2F../roles/Foo.Bar",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles/%C3%9C%3Fx%3D1%23/status",
  ]);
});

it("CORE-136 lists through pages of 500 and joins them", async () => {
  const { server, client } = await paged(1_203);
  const list = await client.list(CONFIG_MAP, { namespace: "ns", labelSelector: "a in (b,c)" });
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 1_203 }, (_, i) => `c${i}`),
  );
  expect(list).toMatchObject({ kind: "ConfigMapList", metadata: { resourceVersion: "9" } });
  expect(list.metadata.continue).toBeUndefined();
  expect(server.requests.map(({ query }) => [query.get("limit"), query.get("continue")])).toEqual([
    ["500", null],
    ["500", "500"],
    ["500", "1000"],
  ]);
  expect(server.requests.every(({ query }) => query.get("labelSelector") === "a in (b,c)")).toBe(true);
});

it.each([false, true])(
  "CORE-194 asks for fewer objects where a page would be too large (compressed: %s)",
  async (compression) => {
    const body = "x".repeat(1024 * 1024);
    const { server, client } = await serve(
      (request, response) => {
        const [limit, from] = ["limit", "continue"].map((name) => Number(request.query.get(name) ?? 0));
        const to = Math.min(70, from! + limit!);
        const items = Array.from({ length: to - from! }, (_, i) => ({
          metadata: { name: `c${from! + i}` },
          data: { body },
        }));
        const metadata = { resourceVersion: "9", ...(to < 70 ? { continue: String(to) } : {}) };
        const text = JSON.stringify({ kind: "ConfigMapList", apiVersion: "v1", metadata, items });
        response.writeHead(200, {
          "content-type": "application/json",
          ...(compression && { "content-encoding": "gzip" }),
        });
        response.end(compression ? gzipSync(text) : text);
      },
      { compression },
    );
    let seen = 0;
    for await (const page of client.pages(CONFIG_MAP)) {
      expect(page.items.length).toBeLessThanOrEqual(16);
      seen += page.items.length;
    }
    expect(seen).toBe(70);
    expect(server.requests.map(({ query }) => query.get("limit")).slice(0, 3)).toEqual(["500", "62", "7"]);
  },
);

it("CORE-136 hands pages out one by one and fetches no more than are taken", async () => {
  const { server, client } = await paged(1_203);
  for await (const page of client.pages(CONFIG_MAP, { limit: 100 })) {
    expect(page.items).toHaveLength(100);
    break;
  }
  expect(server.requests).toHaveLength(1);
});

it("a list without limit is one request, and a resource version goes with the first page only", async () => {
  const { server, client } = await paged(7);
  await client.list(CONFIG_MAP, { limit: 0 });
  expect(server.requests[0]?.url).toBe("/api/v1/configmaps");
  await client.list(CONFIG_MAP, { limit: 4, resourceVersion: "5", resourceVersionMatch: "Exact" });
  expect(server.requests.slice(1).map(({ query }) => Object.fromEntries(query))).toEqual([
    { limit: "4", resourceVersion: "5", resourceVersionMatch: "Exact" },
    { limit: "4", continue: "4" },
  ]);
});

it("items of built-in lists get the apiVersion and kind that the server leaves out", async () => {
  const { client } = await paged(2);
  const { items } = await client.list(CONFIG_MAP);
  expect(items[1]).toEqual({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c1" } });
});

it("CORE-146 refuses a namespaced object without a namespace before anything is sent", async () => {
  const { server, client } = await serve((_, response) => answer(response, 200, object(CONFIG_MAP, "a")));
  const key = { namespace: "", name: "a" };
  const bare = object(CONFIG_MAP, "a", { namespace: undefined, resourceVersion: "1" });
  const calls = [
    client.get(CONFIG_MAP, key),
    client.getSubresource(CONFIG_MAP, key, "status"),
    client.create(CONFIG_MAP, bare),
    client.update(CONFIG_MAP, bare),
    client.patch(CONFIG_MAP, key, { type: "merge", body: {} }),
    client.apply(CONFIG_MAP, bare),
    client.delete(CONFIG_MAP, key),
    client.evict(key),
    client.deleteCollection(CONFIG_MAP, {}),
  ];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({
      name: "InvalidRequestError",
      message: expect.stringContaining("namespace"),
    });
  }
  expect(server.requests).toHaveLength(0);
});

it("CORE-146 ignores the namespace of a cluster-scoped object, with a debug line", async () => {
  const log = recordingLog();
  const { server, client } = await serve((_, response) => answer(response, 200, object(NODE, "n")), { log });
  await client.get(NODE, { namespace: "ns", name: "n" });
  await client.create(NODE, object(NODE, "n"));
  expect(server.requests.map(({ path }) => path)).toEqual(["/api/v1/nodes/n", "/api/v1/nodes"]);
  expect(log.entries.map(({ level }) => level)).toEqual(["debug", "debug"]);
  expect(log.entries[0]?.fields).toMatchObject({ kind: "Node", object: "ns/n" });
});

it("a name that would change the path is refused", async () => {
  const { client } = await serve((_, response) => answer(response, 200, {}));
  await expect(client.get(CONFIG_MAP, { namespace: "ns", name: "" })).rejects.toThrow("has no name");
  await expect(client.get(CONFIG_MAP, { namespace: "ns", name: ".." })).rejects.toThrow("cannot be a name");
});

it("watches with bookmarks and streams the events", async () => {
  const { server, client } = await serve((_, response) => {
    response.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"BOOK');
    setTimeout(() => response.end('MARK","object":{"metadata":{"resourceVersion":"7"}}}\n'), 10);
  });
  const onBytes = vi.fn();
  const events: WatchEvent[] = [];
  const options = {
    namespace: "ns",
    fieldSelector: "metadata.name=a",
    resourceVersion: "5",
    timeoutSeconds: 301,
  };
  for await (const event of client.watch(CONFIG_MAP, { ...options, onBytes })) events.push(event);
  expect(events).toEqual([
    { type: "ADDED", object: { metadata: { name: "a" } } },
    { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
  ]);
  expect(onBytes.mock.calls.length).toBeGreaterThanOrEqual(2);
  expect(server.requests[0]?.path).toBe("/api/v1/namespaces/ns/configmaps");
  expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
    watch: "true",
    allowWatchBookmarks: "true",
    fieldSelector: "metadata.name=a",
    resourceVersion: "5",
    timeoutSeconds: "301",
  });
});

it("asks for a streaming list", async () => {
  const { server, client } = await serve((_, response) => response.end());
  for await (const _ of client.watch(WIDGET, { sendInitialEvents: true }));
  expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
    watch: "true",
    allowWatchBookmarks: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
  });
});

it("a refused watch throws the server's error", async () => {
  const { client } = await serve((_, response) => answer(response, 410, status(410, "Expired", "too old")));
  const events = client.watch(CONFIG_MAP, { resourceVersion: "1" })[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ name: "ApiError", code: 410, reason: "Expired" });
});

it("a watch that breaks off throws an error of the connection", async () => {
  const { server, client } = await serve((request, response) => {
    response.write('{"type":"ADDED","object":{}}\n');
    setTimeout(() => request.socket.destroy(), 5);
  });
  const events = client.watch(CONFIG_MAP, {})[Symbol.asyncIterator]();
  await expect(events.next()).resolves.toMatchObject({ done: false });
  await expect(events.next()).rejects.toMatchObject({ name: "ConnectionError", code: "ECONNRESET" });
  expect(server.requests).toHaveLength(1);
});

it("reads the server's version without the suffix of its minor", async () => {
  const { client } = await serve((_, response) =>
    answer(response, 200, { major: "1", minor: "37+", gitVersion: "v1.37.2-eks" }),
  );
  expect(await client.serverVersion()).toEqual({ gitVersion: "v1.37.2-eks", major: 1, minor: 37 });
});

it("sends raw requests", async () => {
  const { server, client } = await serve((request, response) =>
    request.method === "GET"
      ? answer(response, 200, "ok", { "content-type": "text/plain" })
      : answer(response, 201, { status: { allowed: true } }),
  );
  expect(await client.raw("GET", "/healthz")).toBe("ok");
  const review = { spec: { nonResourceAttributes: { path: "/metrics" } } };
  expect(await client.raw("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)).toEqual({
    status: { allowed: true },
  });
  expect(JSON.parse(server.requests[1]?.body ?? "")).toEqual(review);
  await expect(client.raw("GET", "no-slash")).rejects.toThrow("must begin with a slash");
});
