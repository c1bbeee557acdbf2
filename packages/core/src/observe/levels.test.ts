import { describe, expect, it } from "vitest";
import { isEnabled, levelOf, parseLogLevels } from "./levels.ts";

describe("log levels", () => {
  it("CORE-287 reads a default and levels by logger", () => {
    expect(parseLogLevels("warn, tars=debug,cache=error")).toEqual({
      default: "warn",
      byLogger: { tars: "debug", cache: "error" },
    });
    expect(parseLogLevels("tars=TRACE")).toEqual({ default: "info", byLogger: { tars: "trace" } });
  });

  it.each(["loud", "tars=", "=debug=x", "fatal"])("refuses %j", (text) => {
    expect(() => parseLogLevels(text)).toThrow(
      /is not a log level: write one of error, warn, info, debug, trace/,
    );
  });

  it("gives a logger the level of its nearest name", () => {
    const levels = parseLogLevels("info,controller=warn,tars=debug,controller.nacos=trace");
    expect(levelOf(levels, "cache")).toBe("info");
    expect(levelOf(levels, "controller")).toBe("warn");
    expect(levelOf(levels, "controller.tunnel")).toBe("warn");
    expect(levelOf(levels, "controller.tars")).toBe("debug");
    expect(levelOf(levels, "controller.nacos.heal")).toBe("trace");
    expect(levelOf(levels, "")).toBe("info");
  });

  it("orders levels", () => {
    expect(isEnabled("error", "info")).toBe(true);
    expect(isEnabled("info", "info")).toBe(true);
    expect(isEnabled("debug", "info")).toBe(false);
  });
});
