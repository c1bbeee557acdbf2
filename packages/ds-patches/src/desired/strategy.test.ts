import { expect, it } from "vitest";
import { minReadyMsOf, strategyOf } from "./strategy.ts";

it("DSP-810 a time in whole seconds tells only a second later that a pod has been ready for long enough", () => {
  expect(
    [undefined, 0, 1, 10].map((minReadySeconds) =>
      minReadyMsOf(minReadySeconds === undefined ? {} : { minReadySeconds }),
    ),
  ).toEqual([0, 0, 2_000, 11_000]);
});

it("DSP-737 DSP-801 OnDelete knows no partition, no surge and no roll, whatever stands beside it", () => {
  const rollingUpdate = { partition: 2, maxSurge: 1 };
  const strategy = (type: string) =>
    strategyOf({ updateStrategy: { type, rollingUpdate } } as Parameters<typeof strategyOf>[0]);
  expect(strategy("OnDelete")).toMatchObject({ partition: 0, surges: false, rolls: false });
  expect(strategy("RollingUpdate")).toMatchObject({ partition: 2, surges: true, rolls: true });
});
