import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../client/errors.ts";
import { exitCodeOf, LeadershipLostError, PreflightError } from "./errors.ts";

describe("exit codes", () => {
  it.each([
    ["nothing wrong", undefined, 0],
    ["a failure", new Error("x"), 1],
    ["a lost lease", new LeadershipLostError(), 1],
    ["bad configuration", new ConfigurationError("x"), 2],
    ["missing rights", new PreflightError("x"), 3],
  ])("CORE-401 ends with the right code for %s", (_what, error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});
