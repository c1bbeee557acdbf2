import { describe, expect, it } from "vitest";
import { apart, spread } from "./sequencer.ts";

describe("order of test files", () => {
  const isUpper = (item: string): boolean => item === item.toUpperCase();

  it("CORE-453 has those that get in each other's way evenly among the others, each in its order", () => {
    expect(spread([..."abcdABefgh"], isUpper).join("")).toBe("AabcdBefgh");
    expect(spread([..."ABCabcdefgh"], isUpper).join("")).toBe("AabcBdeCfgh");
  });

  it.each(["abc", "ABC", "ABCa", ""])("CORE-453 loses none of %j", (text) => {
    expect(spread([...text], isUpper).toSorted()).toEqual([...text].toSorted());
  });

  it("CORE-453 spreads scenarios that take turns among scenarios, not among the unit tests that run apart", () => {
    const files = (name: string, path: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        project: { name },
        moduleId: `/packages/${path}/test/${index}.scenario.ts`,
      }));
    const all = [
      ...files("real", "tunnel-config", 3),
      ...files("double", "tunnel-config", 3),
      ...files("unit", "core", 30),
      ...files("real", "nacos-config", 3),
    ];
    const order = apart(all).map(({ project, moduleId }) => `${project.name} ${moduleId.split("/")[2]}`);
    expect(order.slice(0, 30)).toEqual(Array(30).fill("unit core"));
    const turns = order.slice(30).flatMap((one, index) => (one === "real tunnel-config" ? [index] : []));
    expect(turns).toEqual([0, 3, 6]);
  });
});
