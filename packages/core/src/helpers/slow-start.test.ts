import { expect, it } from "vitest";
import { slowStart } from "./slow-start.ts";

/** Runs a slow start and notes how many calls are under way at a time. */
async function run(count: number, fails: (index: number) => boolean) {
  const batches: number[] = [];
  let open = 0;
  const result = await slowStart(count, async (index) => {
    open += 1;
    const first = open === 1;
    await Promise.resolve();
    if (first) batches.push(open);
    open -= 1;
    if (fails(index)) throw new Error(`no ${index}`);
  });
  return { ...result, batches };
}

it("makes all calls, in batches that double", async () => {
  expect(await run(11, () => false)).toEqual({ done: 11, skipped: 0, errors: [], batches: [1, 2, 4, 4] });
  expect(await run(0, () => true)).toMatchObject({ done: 0, skipped: 0 });
});

it("ends with the batch in which a call fails, and tells what was not tried", async () => {
  expect(await run(1_000, (index) => index === 0)).toMatchObject({ done: 0, skipped: 999, batches: [1] });
  const later = await run(100, (index) => index === 4 || index === 5);
  expect(later).toMatchObject({ done: 5, skipped: 93, batches: [1, 2, 4] });
  expect(later.errors.map(String)).toEqual(["Error: no 4", "Error: no 5"]);
});
