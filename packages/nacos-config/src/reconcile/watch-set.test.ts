import type { CacheEvent, CacheHandler, Informer, KubeObject, ObjectKey } from "@quartet/core";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { describe, expect, it } from "vitest";
import { configMap } from "../fixtures.testkit.ts";
import { CONFIG_MAP } from "../kinds.ts";
import { createWatchSet, type Interest, interestIn, type WatchSet } from "./watch-set.ts";

const NEVER = new AbortController().signal;
const key = (name: string): ObjectKey => ({ namespace: "t", name });
const interest = (name: string, delayMs = 1_000): Interest =>
  interestIn(CONFIG_MAP, key(name), delayMs) as unknown as Interest;

/** A cache of which each informer's events can be sent by hand. */
function harness(): {
  clock: FakeClock;
  watches: WatchSet;
  queued: string[];
  running: Map<string, { emit(event: Partial<CacheEvent>): void; objects: KubeObject[] }>;
} {
  const clock = fakeClock();
  const running: ReturnType<typeof harness>["running"] = new Map();
  const queued: string[] = [];
  const cache = {
    informer: (_kind: unknown, options: { fieldSelector?: string }) => {
      let handler: CacheHandler | undefined;
      const id = options.fieldSelector!;
      const objects: KubeObject[] = [];
      running.set(id, { emit: (event) => handler?.(event as CacheEvent), objects });
      return {
        id,
        addHandler(next: CacheHandler) {
          handler = next;
          return () => {
            handler = undefined;
          };
        },
        hasSynced: () => true,
        list: () => objects,
      };
    },
    release: (informer: Informer) => void running.delete((informer as unknown as { id: string }).id),
  };
  const watches = createWatchSet(cache as never, clock, ({ name }, delayMs) =>
    queued.push(`${name} ${delayMs}`),
  );
  return { watches, queued, running, clock };
}

describe("watches of references", () => {
  it("NACOS-349 NACOS-320 watches an object once for all who refer to it, and queues exactly those", async () => {
    const { watches, queued, running } = harness();
    await watches.follow(key("a"), [interest("shared"), interest("shared")], NEVER);
    await watches.follow(key("b"), [interest("shared"), interest("own", 0)], NEVER);
    await watches.follow(key("c"), [interest("other")], NEVER);
    expect(watches.size).toBe(3);
    running.get("metadata.name=shared")!.emit({ type: "update", resync: false });
    expect(queued).toEqual(["a 1000", "b 1000"]);
    running.get("metadata.name=own")!.emit({ type: "delete" });
    expect(queued.at(-1)).toBe("b 0");
  });

  it("NACOS-345 says how long edits in a row are waited for, from the first one on", async () => {
    const { watches, running, clock } = harness();
    await watches.follow(key("a"), [interest("x"), interest("at-once", 0)], NEVER);
    expect(watches.unsettled(key("a"))).toBe(0);
    running.get("metadata.name=at-once")!.emit({ type: "update", resync: false });
    expect(watches.unsettled(key("a"))).toBe(0);
    running.get("metadata.name=x")!.emit({ type: "update", resync: false });
    await clock.advance(600);
    running.get("metadata.name=x")!.emit({ type: "update", resync: false });
    expect(watches.unsettled(key("a"))).toBe(400);
    await clock.advance(400);
    expect(watches.unsettled(key("a"))).toBe(0);
    running.get("metadata.name=x")!.emit({ type: "update", resync: false });
    expect(watches.unsettled(key("a"))).toBe(1_000);
  });

  it("NACOS-349 NACOS-1007 follows edits and deletions, and holds nothing that nobody refers to", async () => {
    const { watches, queued, running } = harness();
    await watches.follow(key("a"), [interest("x")], NEVER);
    await watches.follow(key("b"), [interest("x")], NEVER);
    await watches.follow(key("a"), [interest("y")], NEVER);
    running.get("metadata.name=x")!.emit({ type: "update", resync: false });
    expect(queued).toEqual(["b 1000"]);
    watches.forget(key("b"));
    expect([...running.keys()]).toEqual(["metadata.name=y"]);
    watches.forget(key("a"));
    expect(watches.size).toBe(0);
  });

  it("NACOS-316 takes a later creation for news, the first list and resyncs for none", async () => {
    const { watches, queued, running } = harness();
    await watches.follow(key("a"), [interest("x")], NEVER);
    const { emit } = running.get("metadata.name=x")!;
    emit({ type: "add", initial: true });
    emit({ type: "update", resync: true });
    expect(queued).toEqual([]);
    emit({ type: "add", initial: false });
    expect(queued).toEqual(["a 1000"]);
  });

  it("reads what a watch covers, and nothing where there is none", async () => {
    const { watches, running } = harness();
    await watches.follow(key("a"), [interest("x")], NEVER);
    running.get("metadata.name=x")!.objects.push(configMap("x", { k: "v" }));
    expect(watches.read(interest("x"))).toHaveLength(1);
    expect(watches.read(interest("z"))).toBeUndefined();
  });
});
