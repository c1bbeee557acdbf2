import type { ReconcileContext } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { describe, expect, it } from "vitest";
import { echoServer } from "../fixtures.testkit.ts";
import { createImageReconcile } from "./image.ts";

const labels = { "tars.io/ServerApp": "Demo", "tars.io/ServerName": "EchoServer" };

async function reconcile(image: object, { limit = 2, used = "" } = {}) {
  const clock = fakeClock();
  const patches: unknown[] = [];
  const notes: string[] = [];
  const server = echoServer({ release: { id: used, image: "i" } });
  const lookups = {
    framework: () => ({ recordLimit: { timageRelease: limit } }),
    serversOfApp: () => [server],
  };
  const result = await createImageReconcile({ lookups: async () => lookups as never, clock })(
    { namespace: "ns1", name: "a" },
    {
      signal: new AbortController().signal,
      cache: { get: async () => ({ metadata: { name: "a", namespace: "ns1", labels }, ...image }) },
      client: {
        patch: async (_kind: object, _key: object, { body }: { body: object }) => patches.push(body),
      },
      events: { record: (_: object, { note }: { note: string }) => notes.push(note) },
    } as unknown as ReconcileContext,
  );
  return { result, patches, notes, clock };
}

const releases = (...ids: string[]) => ids.map((id) => ({ id, image: `i:${id}` }));

describe("releases", () => {
  it("TARS-R-086 beyond the limit are dropped, but for the default one and those in use, and told", async () => {
    const image = { default: "v1", releases: releases("v5", "v4", "v3", "v2", "v1") };
    const { patches, notes } = await reconcile(image, { used: "v2" });
    expect(patches).toEqual([{ metadata: {}, releases: releases("v5", "v4", "v2", "v1") }]);
    expect(notes).toEqual(["releases beyond the limit of 2 are dropped: v3"]);
  });

  it("TARS-R-086 within the limit are left alone", async () => {
    expect((await reconcile({ releases: releases("v2", "v1") })).patches).toEqual([]);
  });
});

describe("a build", () => {
  const running = (createTime: string) => ({ build: { running: { id: "b", image: "i", createTime } } });

  it("TARS-R-085 that takes too long has failed", async () => {
    const { patches } = await reconcile(running("2000-01-01T00:00:00Z"));
    expect(patches).toMatchObject([
      { build: { running: null, last: { phase: "Failed", message: "task overtime" } } },
    ]);
  });

  it("TARS-R-085 TARS-R-087 that goes on is left to its builder, and looked at again within a minute, for the clock may jump", async () => {
    const { clock } = await reconcile({});
    const { result, patches } = await reconcile(running(new Date(clock.now()).toISOString()));
    expect(patches).toEqual([]);
    expect(result).toEqual({ requeueAfter: 60_000, exact: true });
  });
});
