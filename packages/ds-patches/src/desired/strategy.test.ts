import { expect, it } from "vitest";
import { minReadyMsOf } from "./strategy.ts";

it("DSP-810 a time in whole seconds tells only a second later that a pod has been ready for long enough", () => {
  expect(
    [undefined, 0, 1, 10].map((minReadySeconds) =>
      minReadyMsOf(minReadySeconds === undefined ? {} : { minReadySeconds }),
    ),
  ).toEqual([0, 0, 2_000, 11_000]);
});
