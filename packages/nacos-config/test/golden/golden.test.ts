import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FEATURES } from "./features.ts";
import { FOLDER, fileOf, generated } from "./generated.ts";

describe("golden files of revision 1", () => {
  it.each(Object.keys(FEATURES))(
    "NACOS-212 NACOS-405 %s is generated as ever: another form would roll running pods",
    (feature) => {
      expect(generated(feature)).toEqual(JSON.parse(readFileSync(fileOf(feature), "utf8")));
    },
  );

  it("NACOS-212 there is a feature for each file", () => {
    expect(readdirSync(FOLDER).sort()).toEqual(
      Object.keys(FEATURES)
        .map((name) => `${name}.json`)
        .sort(),
    );
  });
});
