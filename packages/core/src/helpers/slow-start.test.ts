import { expect, it } from "vitest";
import { slowStart } from "./slow-start.ts";

/** A slow start whose calls are settled by hand. */
function byHand(count: number) {
  const calls: PromiseWithResolvers<void>[] = [];
  const result = slowStart(count, (index) => {
    expect(index).toBe(calls.length);
    calls.push(Promise.withResolvers());
    return calls.at(-1)!.promise;
  });
  const settle = async (index: number, error?: Error): Promise<number> => {
    if (error === undefined) calls[index]!.resolve();
    else calls[index]!.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
    return calls.length;
  };
  return { result, settle, begun: () => calls.length };
}

it("begins with one call, and makes two more for each that succeeds, in whatever order", async () => {
  const { result, settle, begun } = byHand(10);
  expect(begun()).toBe(1);
  expect(await settle(0)).toBe(3);
  expect(await settle(2)).toBe(5);
  expect(await settle(3)).toBe(7);
  expect(await settle(1)).toBe(9);
  expect(await settle(8)).toBe(10);
  for (const index of [4, 5, 6, 7, 9]) await settle(index);
  expect(await result).toEqual({ done: 10, skipped: 0, errors: [] });
});

it("makes no call for nothing", async () => {
  const { result, begun } = byHand(0);
  expect(await result).toEqual({ done: 0, skipped: 0, errors: [] });
  expect(begun()).toBe(0);
});

it("begins none after a failure, waits for those under way, and tells what was not tried", async () => {
  const refused = new Error("no");
  const first = byHand(1_000);
  await first.settle(0, refused);
  expect(await first.result).toEqual({ done: 0, skipped: 999, errors: [refused] });

  const later = byHand(100);
  await later.settle(0);
  expect(await later.settle(1, refused)).toBe(3);
  expect(await later.settle(2)).toBe(3);
  expect(await later.result).toEqual({ done: 2, skipped: 97, errors: [refused] });
});
