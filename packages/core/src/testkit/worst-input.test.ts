import { describe, expect, it } from "vitest";
import { expectLinear, textOf, worstTexts } from "./worst-input.ts";

describe("expectLinear", () => {
  it("passes what reads a text once, and what refuses it", () => {
    expectLinear((size) => textOf("a\n", size).split("\n"));
    expectLinear(() => {
      throw new Error("refused");
    });
  });

  it("finds what reads a text again for each of its characters", () => {
    expect(() => expectLinear((size) => / +$/.test(`${textOf(" ", size)}!`))).toThrow(/CPU time grew/);
  });
});

describe("worstTexts", () => {
  it("are of the size that was asked for", () => {
    expect(new Set(worstTexts(1_000).map(({ length }) => length))).toEqual(new Set([1_000]));
  });
});
