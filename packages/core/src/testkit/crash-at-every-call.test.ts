import { describe, expect, it } from "vitest";
import { type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import { finalizer } from "../helpers/finalizers.ts";
import { controllerReference } from "../helpers/owners.ts";
import type { Kind } from "../object.ts";
import { type CrashOptions, crashAtEveryCall } from "./crash-at-every-call.ts";
import type { TestProcess } from "./killable-process.ts";
import { type MemoryApi, memoryApi } from "./memory-api.testkit.ts";
import { testContext } from "./test-context.ts";

const parts: Kind<Thing> = { ...things, kind: "Part", plural: "parts" };
const KEY = { namespace: "a", name: "echo" };

interface World {
  client: Client;
  api: MemoryApi;
  /** Records of an outside service. */
  outside: Set<string>;
}

async function setup(): Promise<World> {
  const api = memoryApi();
  api.put(things, thing("echo", { spec: { text: "hello" } }));
  return { client: api.client, api, outside: new Set() };
}

const endState = async ({ api, outside }: World): Promise<unknown> => ({
  things: api.list(things),
  parts: api.list(parts),
  outside: [...outside].sort(),
});

/** Registers outside, makes a child, writes a status; undoes the registration before the object goes. */
async function soundRun({ client, call }: TestProcess, { api, outside }: World): Promise<void> {
  const ctx = testContext(client, api.client);
  const echo = await ctx.cache.get(things, KEY);
  if (echo === undefined) return;
  const guard = finalizer({
    kind: things,
    name: "test.quartet.io/outside",
    cleanup: () => call("DELETE outside", async () => void outside.delete("echo")),
  });
  if ((await guard(echo, ctx)) !== "present") return;
  if (!outside.has("echo")) await call("PUT outside", async () => void outside.add("echo"));
  if ((await ctx.cache.get(parts, KEY)) === undefined) {
    const ownerReferences = [controllerReference(things, echo)];
    const metadata = { ...KEY, ownerReferences };
    await client.create(parts, { ...thing("echo"), kind: "Part", metadata });
  }
  await client.patchStatus(things, echo, { ready: true });
}

const options = (run: CrashOptions<World>["run"], more: Partial<CrashOptions<World>> = {}) => ({
  setup,
  run,
  endState,
  ...more,
});

describe("a reconcile that bears every kill", () => {
  it("CORE-240 passes, killed before and after each call of its rise", async () => {
    expect(await crashAtEveryCall(options(soundRun))).toEqual({
      calls: [
        "patch things a/echo",
        "PUT outside",
        "create parts a/echo",
        "patchStatus things a/echo",
        "patchStatus things a/echo",
      ],
      crashes: 10,
    });
  });

  it("CORE-240 CORE-306 passes, killed before and after each call of its fall, and the cleanup has run", async () => {
    const ends: unknown[] = [];
    const report = await crashAtEveryCall(
      options(soundRun, {
        async setup() {
          const world = await setup();
          world.outside.add("echo");
          const metadata = { ...KEY, finalizers: ["test.quartet.io/outside", "x.io/other"] };
          world.api.put(things, thing("echo", { metadata }));
          world.api.remove(things, KEY);
          return world;
        },
        async endState(world) {
          ends.push(world.outside.size);
          return endState(world);
        },
      }),
    );
    expect(report).toEqual({ calls: ["DELETE outside", "patch things a/echo"], crashes: 4 });
    expect(new Set(ends)).toEqual(new Set([0]));
  });

  it("CORE-240 is killed at every call although it swallows what a call throws", async () => {
    const run = async ({ client }: TestProcess, { api }: World): Promise<void> => {
      for (const field of ["size", "owner"] as const) {
        if (api.get(things, KEY)?.spec?.[field] !== undefined) continue;
        await client
          .patch(things, KEY, { type: "merge", body: { spec: { [field]: "set" } } })
          .catch(() => {});
      }
    };
    expect(await crashAtEveryCall(options(run))).toEqual({
      calls: ["patch things a/echo", "patch things a/echo"],
      crashes: 4,
    });
  });

  it("tears each world down", async () => {
    let open = 0;
    await crashAtEveryCall(
      options(soundRun, {
        setup: () => {
          open += 1;
          return setup();
        },
        async teardown() {
          open -= 1;
        },
      }),
    );
    expect(open).toBe(0);
  });
});

describe("a reconcile that does not", () => {
  it("CORE-240 is found out when it counts on a status that it wrote too early", async () => {
    const run = async ({ client }: TestProcess, { api }: World): Promise<void> => {
      const echo = api.get(things, KEY) as Thing & { status?: { made?: boolean } };
      if (echo.status?.made === true) return;
      await client.patchStatus(things, echo, { made: true });
      await client.create(parts, { ...thing("echo"), kind: "Part" });
    };
    await expect(crashAtEveryCall(options(run))).rejects.toThrow(
      /another end when killed before call 2 \(create parts a\/echo\): \/parts\/0: expected .*found nothing/,
    );
  });

  it("CORE-240 is found out when a kill after a call that took effect makes it do that again", async () => {
    const run = async ({ call, client }: TestProcess, { api, outside }: World): Promise<void> => {
      const echo = api.get(things, KEY) as Thing & { status?: { id?: string } };
      if (echo.status?.id !== undefined) return;
      const id = `record-${outside.size}`;
      await call("POST outside", async () => void outside.add(id));
      await client.patchStatus(things, echo, { id });
    };
    await expect(crashAtEveryCall(options(run))).rejects.toThrow(
      /another end when killed before call 2 \(patchStatus things a\/echo\)/,
    );
  });

  it("CORE-240 is found out when it fails for ever after a kill", async () => {
    const run = async ({ client }: TestProcess, { api }: World): Promise<void> => {
      const echo = api.get(things, KEY) as Thing & { status?: { made?: boolean } };
      if (echo.status?.made === true) return;
      await client.create(parts, { ...thing("echo"), kind: "Part" });
      await client.patchStatus(things, echo, { made: true });
    };
    await expect(crashAtEveryCall(options(run))).rejects.toThrow(
      /still fails: ApiError: parts "echo": AlreadyExists after 10 passes when killed before call 2 \(patchStatus/,
    );
  });

  it("is told from one that never comes to rest, and from one without an end", async () => {
    let n = 0;
    const restless = ({ client }: TestProcess): Promise<unknown> =>
      client.patch(things, KEY, { type: "merge", body: { spec: { text: String(n++) } } });
    await expect(crashAtEveryCall(options(restless))).rejects.toThrow(
      /still writes \(patch things a\/echo\) after 10 passes without a kill/,
    );
    const busy = async ({ client }: TestProcess): Promise<void> => {
      for (let i = 0; i < 30; i += 1) await client.get(things, KEY);
    };
    await expect(crashAtEveryCall(options(busy, { maxCalls: 20 }))).rejects.toThrow(/more than 20 calls/);
  });
});
