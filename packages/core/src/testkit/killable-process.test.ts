import { describe, expect, it } from "vitest";
import { type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import type { KubeList } from "../object.ts";
import { killableProcess, type TestProcess } from "./killable-process.ts";
import { memoryApi } from "./memory-api.testkit.ts";

const KEY = { namespace: "a", name: "x" };

/** A client to which every request succeeds with its own name; a list has two pages. */
function agreeable(): Client {
  const page = (names: string[]): KubeList<Thing> => ({
    apiVersion: "v1",
    kind: "List",
    metadata: {},
    items: names.map((name) => thing(name)),
  });
  const known: Partial<Client> = {
    async *pages() {
      yield page(["a", "b"]) as never;
      yield page(["c"]) as never;
    },
    patchStatus: async (_kind, current, next) => (current.status === next ? undefined : (next as never)),
    forController: () => agreeable(),
  };
  const any = async (): Promise<string> => "yes";
  return new Proxy(known, {
    get: (target, name) => Reflect.get(target, name) ?? any,
    ownKeys: () => Object.keys(known),
  }) as Client;
}

describe("calls", () => {
  it("CORE-240 counts and names every request, and tells writes from reads", async () => {
    const process = killableProcess(agreeable());
    const { client } = process;
    const object = thing("x");
    await client.get(things, KEY);
    await client.list(things, { namespace: "a" });
    await client.raw("GET", "/version");
    await client.getSubresource(things, KEY, "scale");
    await client.create(things, object, { dryRun: true });
    const status = {};
    await client.patchStatus(things, { metadata: KEY, status }, status);
    expect(process.writes).toBe(0);
    const names: string[] = [];
    for await (const { items } of client.pages(things)) {
      names.push(...items.map(({ metadata }) => metadata.name!));
    }
    expect(names).toEqual(["a", "b", "c"]);
    await client.create(things, object);
    await client.patchStatus(things, { metadata: KEY, status }, { ready: true });
    await client.deleteCollection(things, { namespace: "a" });
    await client.evict(KEY);
    await client.raw("POST", "/apis/x");
    await client.forController("other").delete(things, KEY);
    expect(process.writes).toBe(6);
    expect(process.calls).toEqual([
      "get things a/x",
      "list things",
      "GET /version",
      "getSubresource things a/x",
      "create things a/x",
      "patchStatus things a/x",
      "pages things",
      "pages things",
      "pages things",
      "create things a/x",
      "patchStatus things a/x",
      "deleteCollection things",
      "evict pods a/x",
      "POST /apis/x",
      "delete things a/x",
    ]);
  });

  it("CORE-240 dies before a call is sent, or after it has taken effect", async () => {
    for (const [side, sent] of [
      ["before", 0],
      ["after", 1],
    ] as const) {
      const api = memoryApi();
      const process = killableProcess(api.client, { call: 1, side });
      await expect(process.client.create(things, thing("x"))).rejects.toThrow("killed at create things a/x");
      expect(process.crashed).toBe(true);
      expect(api.requests).toHaveLength(sent);
      await expect(process.client.forController("y").get(things, KEY)).rejects.toThrow("killed");
      expect(api.requests).toHaveLength(sent);
    }
  });

  it("a process that is dead sends nothing more and sees no answer, also of calls under way", async () => {
    const sent: string[] = [];
    const seen: string[] = [];
    const run = async ({ call }: TestProcess): Promise<void> => {
      const send = (name: string) =>
        call(name, async () => {
          sent.push(name);
          await new Promise((resolve) => setTimeout(resolve, name === "slow" ? 10 : 1));
        }).then(() => void seen.push(name));
      await Promise.allSettled([send("slow"), send("fast")]);
      await Promise.allSettled([send("late")]);
    };
    const process = killableProcess(memoryApi().client, { call: 2, side: "after" });
    await run(process);
    expect(sent).toEqual(["slow", "fast"]);
    expect(seen).toEqual([]);
    expect(process.crashed).toBe(true);
  });
});
