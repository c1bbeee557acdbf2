import { describe, expect, it } from "vitest";
import { selectControllers } from "./controllers.ts";

const known = [
  { name: "nacos", aliases: ["nacos-config"] },
  { name: "ds-patches", aliases: [] },
  { name: "tunnel", aliases: ["tunnel-config"] },
  { name: "tars", aliases: ["tars-tserver"] },
];

describe("choice of controllers", () => {
  it.each([
    ["*", ["nacos", "ds-patches", "tunnel", "tars"]],
    ["-tars", ["nacos", "ds-patches", "tunnel"]],
    ["*,-tars", ["nacos", "ds-patches", "tunnel"]],
    ["nacos,tunnel", ["nacos", "tunnel"]],
    ["tars-tserver, nacos-config", ["nacos", "tars"]],
    ["-tunnel-config,-ds-patches", ["nacos", "tars"]],
    ["*,tars", ["nacos", "ds-patches", "tunnel", "tars"]],
  ])("CORE-391 selects by %s", (text, selected) => {
    expect(selectControllers(text.split(","), known)).toEqual(selected);
  });

  it.each([
    ["tras", /unknown controller "tras"; known are nacos, ds-patches, tunnel, tars; did you mean tars\?/],
    ["-foo", /unknown controller "foo"; known are/],
    ["", /leaves no controller to run/],
    ["-nacos,-ds-patches,-tunnel,-tars", /leaves no controller to run/],
    ["tars,-tars-tserver", /tars is both named and excluded/],
  ])("CORE-391 refuses %j", (text, message) => {
    expect(() => selectControllers(text.split(","), known)).toThrow(message);
  });
});
