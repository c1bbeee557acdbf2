import { ApiError, type Children, childrenOf, createChildMemory } from "@quartet/core";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { beforeEach, expect, it } from "vitest";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { inBatches } from "./batches.ts";

const refusal = new ApiError({
  code: 403,
  reason: "Forbidden",
  message: "quota exceeded",
  details: { causes: [] },
  retryAfterSeconds: undefined,
  continueToken: undefined,
  method: "POST",
  path: "/api/v1/namespaces/t/pods",
});
const owner = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "a", namespace: "t", uid: "u" },
};

let clock: FakeClock;
let children: Children<DaemonSet>;
let refused: Set<string>;
let asked: string[];
beforeEach(() => {
  clock = fakeClock();
  refused = new Set();
  asked = [];
  children = childrenOf(
    {
      client: undefined as never,
      signal: new AbortController().signal,
      cache: { source: () => undefined as never },
    },
    {
      family: { owner: DAEMON_SET, labels: () => ({}) },
      owner: owner as DaemonSet,
      memory: createChildMemory(),
      clock,
    },
  );
});

const run = (items: string[], isRefused: (item: string) => boolean) =>
  inBatches(
    children,
    {
      id: "create pod",
      subjectOf: (item) => `Pod ${item}`,
      wanted: ["r1"],
      items,
      nameOf: (item) => item,
      async write(item) {
        asked.push(item);
        if (isRefused(item)) throw refusal;
      },
    },
    refused,
  );
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

it("DSP-734 a thousand writes that are all refused cost one request, and one at each growing interval", async () => {
  const items = numbered(1_000);
  const first = await run(items, () => true);
  expect(first).toMatchObject({ done: 0, problems: [{ reason: "Forbidden", retryAfterMs: 5_000 }] });
  for (let pass = 0; pass < 60; pass += 1) {
    await clock.advance(1_000);
    await run(items, () => true);
  }
  // At 0, 5, 15 and 35 seconds.
  expect(asked).toHaveLength(4);
});

it("DSP-734 one item that is refused stands before none of the others", async () => {
  const items = numbered(10);
  const isBad = (item: string): boolean => item === "n0";
  expect(await run(items, isBad)).toMatchObject({ done: 0 });
  await clock.advance(5_000);
  const second = await run(items, isBad);
  expect(second.done).toBe(9);
  expect(second.errors).toEqual([]);
  asked = [];
  expect(await run(["n0"], isBad)).toMatchObject({ done: 0 });
  await clock.advance(1_000);
  await run(["n0"], isBad);
  expect(asked.length).toBeLessThanOrEqual(1);
});

it("DSP-734 what is no refusal ends the batch and is handed on", async () => {
  const result = await inBatches(
    children,
    {
      id: "x",
      subjectOf: String,
      wanted: [],
      items: numbered(8),
      nameOf: String,
      write: async (item) => {
        asked.push(item);
        throw new Error("aborted");
      },
    },
    refused,
  );
  expect(result).toMatchObject({ done: 0, problems: [], errors: [expect.any(Error)] });
  expect(asked).toHaveLength(1);
});
