import { expect, it } from "vitest";
import { apiError, type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client, ListOptions } from "../client/types.ts";
import type { KubeList } from "../object.ts";
import { liveCache, testContext } from "./test-context.ts";

function stub(): { client: Client; asked: ListOptions[] } {
  const asked: ListOptions[] = [];
  const client: Partial<Client> = {
    async get(_kind, key) {
      if (key.name !== "a") throw apiError(key.name === "gone" ? 404 : 500);
      return thing("a") as never;
    },
    async list(_kind, options = {}) {
      asked.push(options);
      return {
        apiVersion: "v1",
        kind: "List",
        metadata: {},
        items: [thing("a")],
      } as KubeList<Thing> as never;
    },
  };
  return { client: client as Client, asked };
}

it("a live cache reads what there is, and nothing where there is none", async () => {
  const { client, asked } = stub();
  const cache = liveCache(client);
  expect(await cache.get(things, { namespace: "a", name: "a" })).toEqual(thing("a"));
  expect(await cache.get(things, { namespace: "a", name: "gone" })).toBeUndefined();
  await expect(cache.get(things, { namespace: "a", name: "broken" })).rejects.toMatchObject({ code: 500 });
  expect(await cache.list(things, { namespace: "a", labels: { app: "x", tier: "y" } })).toEqual([thing("a")]);
  await cache.list(things);
  expect(asked).toEqual([{ namespace: "a", labelSelector: "app=x,tier=y" }, {}]);
  expect(() => cache.source(things)).toThrow(/no source of things; use get and list/);
});

it("a test's context writes by one client, reads by another, and takes what else is given", async () => {
  const { client } = stub();
  const writer = stub().client;
  const ctx = testContext(writer, client, { attempt: 3 });
  expect(ctx.client).toBe(writer);
  expect(ctx.attempt).toBe(3);
  expect(await ctx.cache.get(things, { namespace: "a", name: "a" })).toEqual(thing("a"));
});
