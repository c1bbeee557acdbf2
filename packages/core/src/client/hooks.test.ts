import { expect, it, vi } from "vitest";
import { MAX_REQUEST_SOCKETS } from "./agents.ts";
import { answer, CONFIG_MAP, object, serve } from "./testkit.testkit.ts";
import type { ClientHooks, WriteInfo } from "./types.ts";

const KEY = { namespace: "ns", name: "a" };

/** A server that answers every write with an object, or, to a delete, with a Status. */
const writable = (options: Parameters<typeof serve>[1]) =>
  serve((request, response) => {
    const gone = { kind: "Status", apiVersion: "v1", status: "Success" };
    const written = object(CONFIG_MAP, "a", { resourceVersion: "2" });
    answer(response, 200, request.method === "DELETE" ? gone : written);
  }, options);

it("hooks see every write, the parent's first, and what it returned", async () => {
  const told: [string, string, string | undefined, string | undefined][] = [];
  /** A hook before a write may be called again for the same write. */
  const note = (what: (typeof told)[number]): void => {
    if (!told.some((other) => JSON.stringify(other) === JSON.stringify(what))) told.push(what);
  };
  const hooks = (name: string): ClientHooks => ({
    beforeWrite: (info) => note([`${name} before`, info.verb, info.subresource, undefined]),
    afterWrite: (info, result) =>
      void told.push([`${name} after`, info.verb, info.subresource, result?.metadata.resourceVersion]),
  });
  const { client } = await writable({ hooks: hooks("parent") });
  const child = client.forController("tars", hooks("child"));
  const thing = object(CONFIG_MAP, "a", { resourceVersion: "1" });
  await child.get(CONFIG_MAP, KEY);
  await child.updateStatus(CONFIG_MAP, thing);
  expect(told).toEqual([
    ["parent before", "update", "status", undefined],
    ["child before", "update", "status", undefined],
    ["parent after", "update", "status", "2"],
    ["child after", "update", "status", "2"],
  ]);
  told.length = 0;
  await client.delete(CONFIG_MAP, KEY);
  expect(told).toEqual([
    ["parent before", "delete", undefined, undefined],
    ["parent after", "delete", undefined, undefined],
  ]);
  told.length = 0;
  await child.create(CONFIG_MAP, thing);
  await child.patch(CONFIG_MAP, KEY, { type: "merge", body: {} });
  await child.apply(CONFIG_MAP, thing);
  await child.evict(KEY);
  await child.deleteCollection(CONFIG_MAP, { namespace: "ns" });
  expect(told.filter(([who]) => who === "child after").map(([, verb, sub]) => [verb, sub])).toEqual([
    ["create", undefined],
    ["patch", undefined],
    ["apply", undefined],
    ["create", "eviction"],
    ["deletecollection", undefined],
  ]);
});

it("CORE-185 hooks are told the UID of what was written, after a delete too", async () => {
  const uids: unknown[] = [];
  const { client } = await serve(
    (request, response) => {
      const gone = { kind: "Status", apiVersion: "v1", status: "Success", details: { uid: "u1" } };
      answer(response, 200, request.method === "DELETE" ? gone : object(CONFIG_MAP, "a", { uid: "u2" }));
    },
    { hooks: { afterWrite: (_info, _object, uid) => void uids.push(uid) } },
  );
  await client.delete(CONFIG_MAP, KEY);
  await client.create(CONFIG_MAP, object(CONFIG_MAP, "a"));
  expect(uids).toEqual(["u1", "u2"]);
});

it("a hook that throws keeps the write from being sent, also before a repeat", async () => {
  let fenced = true;
  const afterWrite = vi.fn();
  const beforeWrite = (info: WriteInfo): void => {
    if (fenced) throw new Error(`fenced: ${info.kind.kind} ${info.key.namespace}/${info.key.name}`);
  };
  const { server, client } = await serve(
    (_, response) => {
      fenced = true;
      answer(response, 429, {}, { "retry-after": "0" });
    },
    { hooks: { beforeWrite, afterWrite } },
  );
  const thing = object(CONFIG_MAP, "a", { resourceVersion: "1" });
  await expect(client.update(CONFIG_MAP, thing)).rejects.toThrow("fenced: ConfigMap ns/a");
  expect(server.requests).toHaveLength(0);
  fenced = false;
  await expect(client.update(CONFIG_MAP, thing)).rejects.toThrow("fenced: ConfigMap ns/a");
  expect(server.requests).toHaveLength(1);
  expect(afterWrite).not.toHaveBeenCalled();
});

it("CORE-257 a write is held back by a hook that begins to throw while it waits for a connection", async () => {
  let fenced = false;
  const beforeWrite = (): void => {
    if (fenced) throw new Error("fenced");
  };
  const { server, client } = await writable({ hooks: { beforeWrite } });
  const pending = client.update(CONFIG_MAP, object(CONFIG_MAP, "a", { resourceVersion: "1" }));
  // The connection is being opened, which takes several rounds of the event loop.
  setImmediate(() => {
    fenced = true;
  });
  await expect(pending).rejects.toThrow("fenced");
  expect(server.requests).toHaveLength(0);
});

it("CORE-257 a write is held back by a hook that begins to throw while it waits for a free socket", async () => {
  let fenced = false;
  const beforeWrite = (): void => {
    if (fenced) throw new Error("fenced");
  };
  const release: (() => void)[] = [];
  const { server, client } = await serve(
    (request, response) => {
      const send = (): void => answer(response, 200, object(CONFIG_MAP, "a", { resourceVersion: "2" }));
      if (request.method === "GET") release.push(send);
      else send();
    },
    { hooks: { beforeWrite } },
  );
  const reads = Array.from({ length: MAX_REQUEST_SOCKETS }, () => client.get(CONFIG_MAP, KEY));
  await vi.waitFor(() => expect(release).toHaveLength(MAX_REQUEST_SOCKETS));
  const pending = client.update(CONFIG_MAP, object(CONFIG_MAP, "a", { resourceVersion: "1" }));
  const outcome = expect(pending).rejects.toThrow("fenced");
  await new Promise((resolve) => setTimeout(resolve, 20));
  fenced = true;
  for (const send of release) send();
  await Promise.all(reads);
  await outcome;
  expect(server.requests.filter(({ method }) => method === "PUT")).toEqual([]);
});
