import { describe, expect, it } from "vitest";
import { spread } from "./sequencer.ts";

describe("order of test files", () => {
  const isUpper = (item: string): boolean => item === item.toUpperCase();

  it("CORE-453 has those that get in each other's way evenly among the others, each in its order", () => {
    expect(spread([..."abcdABefgh"], isUpper).join("")).toBe("AabcdBefgh");
    expect(spread([..."ABCabcdefgh"], isUpper).join("")).toBe("AabcBdeCfgh");
  });

  it.each(["abc", "ABC", "ABCa", ""])("CORE-453 loses none of %j", (text) => {
    expect(spread([...text], isUpper).toSorted()).toEqual([...text].toSorted());
  });
});
