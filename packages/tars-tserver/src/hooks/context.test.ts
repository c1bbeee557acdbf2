import { expect, it } from "vitest";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import type { Lookups } from "../sources.ts";
import { type HookContext, serverExists, templateExists } from "./context.ts";

const KEY = { namespace: "ns1", name: "a" };
const { signal } = new AbortController();

/** A server that has what `live` says, and a cache that has what `cached` says. */
function scene({ cached = false, live = 404 } = {}) {
  const asked: string[] = [];
  const context = {
    client: {
      async get({ kind }: { kind: string }) {
        asked.push(kind);
        if (live !== 200) throw apiRefusal(live, "", `${live}`);
      },
    },
  } as unknown as HookContext;
  const lookups = {
    server: () => (cached ? echoServer() : undefined),
    template: () => (cached ? {} : undefined),
  } as unknown as Lookups;
  return { asked, context, lookups };
}

it("TARS-API-005 what the cache has is not asked for", async () => {
  const { asked, context, lookups } = scene({ cached: true });
  expect(await templateExists(context, lookups, KEY, signal)).toBe(true);
  expect(asked).toEqual([]);
});

it("TARS-API-005 what the cache does not have yet is looked up before a request is refused", async () => {
  const { asked, context, lookups } = scene({ live: 200 });
  expect(await templateExists(context, lookups, KEY, signal)).toBe(true);
  expect(await serverExists(context, lookups, KEY, signal)).toBe(true);
  expect(asked).toEqual(["TTemplate", "TServer"]);
});

it("TARS-API-005 an answer other than that there is none is no verdict", async () => {
  const none = scene();
  expect(await templateExists(none.context, none.lookups, KEY, signal)).toBe(false);
  const broken = scene({ live: 500 });
  await expect(templateExists(broken.context, broken.lookups, KEY, signal)).rejects.toThrow("500");
});
