import { describe, expect, it } from "vitest";
import { createPermits } from "./permits.ts";

const { signal } = new AbortController();

describe("permits", () => {
  it("CORE-194 are given to as many as there are, and to the next in turn as they come back", async () => {
    const permits = createPermits(2);
    const got: string[] = [];
    const take = (name: string) =>
      permits.take(signal).then((release) => {
        got.push(name);
        return release;
      });
    const [first, second] = [await take("a"), await take("b")];
    const third = take("c");
    void take("d");
    await Promise.resolve();
    expect(got).toEqual(["a", "b"]);
    first();
    first();
    (await third)();
    await new Promise(setImmediate);
    expect(got).toEqual(["a", "b", "c", "d"]);
    second();
  });

  it("are not taken by who gave up", async () => {
    const permits = createPermits(1);
    const release = await permits.take(signal);
    const leaving = new AbortController();
    const refused = permits.take(leaving.signal);
    leaving.abort(new Error("enough"));
    await expect(refused).rejects.toThrow("enough");
    release();
    await permits.take(signal);
    await expect(permits.take(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  });
});
