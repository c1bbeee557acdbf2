import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import type { Health } from "../health/evaluate.ts";
import { createNodeWatch, type NodeWatch } from "./node-watch.ts";

const KEY = { namespace: "t", name: "demo" };
const passed = (version: string): Health => ({
  state: "passed",
  nodes: [],
  versions: new Map([[version, 3]]),
  version,
});
const DOWN: Health = { state: "failed", code: 401, reason: "NodeNotUp", message: "demo-0", nodes: [] };

let clock: FakeClock;
let watch: NodeWatch;
let queued: string[];
let stop: AbortController;
let answer: Health | Error;
let looks: number;
beforeEach(async () => {
  clock = fakeClock();
  watch = createNodeWatch(clock, () => 0.5);
  queued = [];
  stop = new AbortController();
  answer = passed("2.4.3");
  looks = 0;
  await watch.source.start((key) => void queued.push(key.name), stop.signal);
});

const look = async (): Promise<Health> => {
  looks += 1;
  if (answer instanceof Error) throw answer;
  return answer;
};
const follow = (): void => watch.follow(KEY, passed("2.4.3"), look);

describe("looks at the nodes of a resource that is well", () => {
  it("NACOS-923 go on without queueing it while the nodes answer the same", async () => {
    follow();
    await clock.advance(160_000);
    expect(looks).toBe(10);
    expect(queued).toEqual([]);
  });

  it.each([
    ["a node is down", DOWN],
    ["a version differs", passed("2.5.0")],
    ["nobody could be asked", new Error("gone")],
  ])("NACOS-923 queue it once, within twenty seconds, when %s", async (_what, news) => {
    follow();
    answer = news;
    await clock.advance(20_000);
    expect(queued).toEqual(["demo"]);
    await clock.advance(100_000);
    expect(queued).toEqual(["demo"]);
    expect(looks).toBe(1);
  });

  it("NACOS-923 end with the resource, with the next pass and with the controller, and leave no timer", async () => {
    follow();
    watch.forget(KEY);
    await clock.advance(100_000);
    expect(looks).toBe(0);
    follow();
    follow();
    expect(clock.pending).toBe(1);
    stop.abort();
    expect(clock.pending).toBe(0);
    await clock.advance(100_000);
    expect(looks).toBe(0);
  });
});
