import { describe, expect, it } from "vitest";
import { apiError, thing, things } from "./fixtures.testkit.ts";
import { harness } from "./harness.testkit.ts";

describe("namespaced mode", () => {
  it("CORE-395 lists and watches each namespace by itself, and nothing else", async () => {
    const { clock, server, watch } = harness({ namespaces: ["b", "a"] });
    server.put(thing("x"));
    server.put(thing("y", { namespace: "b" }));
    server.put(thing("z", { namespace: "c" }));
    const { informer, events } = watch();
    await clock.flush();
    expect(server.seen.map(({ options }) => options.namespace)).toEqual(["a", "b"]);
    expect(events.sort()).toEqual(["add a/x (initial)", "add b/y (initial)"]);
    server.put(thing("z2", { namespace: "c" }));
    server.put(thing("y2", { namespace: "b" }));
    await clock.flush();
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["x", "y", "y2"]);
    expect(informer.list({ namespace: "c" })).toEqual([]);
  });

  it("CORE-395 a forbidden namespace stops neither the others nor the informer", async () => {
    const { clock, server, watch, lines } = harness({ namespaces: ["a", "b"] });
    server.put(thing("y", { namespace: "b" }));
    server.refuse("watch", apiError(403, "things is forbidden in a"), 1);
    const { informer, events } = watch();
    await clock.flush();
    expect([informer.state, events]).toEqual(["synced", ["add b/y (initial)"]]);
    expect(informer.lastError).toMatchObject({ code: 403 });
    expect(lines.find(({ msg }) => msg.includes("not available"))).toMatchObject({
      fields: { namespace: "a" },
    });
    server.put(thing("x"));
    await clock.advance(10_000);
    expect(events.at(-1)).toBe("add a/x (initial)");
  });

  it("is forbidden or waiting as a whole when all namespaces are", async () => {
    for (const [code, state] of [
      [403, "forbidden"],
      [404, "waiting-for-kind"],
    ] as const) {
      const { clock, server, watch } = harness({ namespaces: ["a", "b"] });
      server.refuse("watch", apiError(code), 2);
      const { informer } = watch();
      await clock.flush();
      expect(informer.state).toBe(state);
    }
  });

  it("CORE-395 refuses reads of other namespaces instead of calling them empty", async () => {
    const { cache } = harness({ namespaces: ["a", "b"] });
    await expect(cache.get(things, { namespace: "c", name: "x" })).rejects.toThrow(
      'things.v1.test.quartet.io in namespace "c" is not cached; the cache covers a, b only',
    );
    await cache.stop();
  });
});

describe("gauges", () => {
  it("tell objects, version and age of the last byte", async () => {
    const { clock, server, watch, gauges } = harness();
    server.put(thing("x"));
    watch({ labelSelector: "!none" });
    await clock.flush();
    server.watches()[0]!.bookmark("1234567890123456789");
    await clock.advance(7_000);
    const [informer] = gauges;
    expect(informer!.objects()).toBe(1);
    expect(informer!.resourceVersion()).toBe(567890123456789);
    expect(informer!.secondsSinceContact()).toBe(7);
    expect(informer!.queuedItems()).toBe(0);
    expect(informer!.scope).toBe("labels");
  });
});
