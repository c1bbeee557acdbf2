import { describe, expect, it } from "vitest";
import { nacos } from "../fixtures.testkit.ts";
import { pluginNotice } from "./plugin-image.ts";
import { settingsOf } from "./settings.ts";

const NONE = new Map<string, string>();
const warned = (spec: object, properties: ReadonlyMap<string, string> = NONE): boolean =>
  pluginNotice(settingsOf(nacos({ ...spec })), properties)?.reason === "PluginImageRequired";
const POSTGRESQL = { database: { type: "postgresql" } };

describe("the image's knowledge of PostgreSQL", () => {
  it("NACOS-725 is doubted for official images before 3.2, in whatever registry", () => {
    for (const image of [
      "nacos/nacos-server:v2.4.3",
      "nacos/nacos-server:3.1.1-slim",
      "registry.example.com:5000/mirror/nacos/nacos-server:v3.0.1@sha256:00",
    ]) {
      expect(warned({ ...POSTGRESQL, image })).toBe(true);
    }
    for (const image of [
      "nacos/nacos-server:v3.2.0",
      "nacos/nacos-server:v4.0.0",
      "nacos/nacos-server:latest",
      "nacos/nacos-server:v2.4.3-pg",
      "example/nacos-server:v2.4.3",
    ]) {
      expect(warned({ ...POSTGRESQL, image })).toBe(false);
    }
  });

  it("NACOS-725 matters when the type or the effective configuration asks for PostgreSQL", () => {
    expect(warned({ database: { type: "pg" } })).toBe(true);
    expect(warned({}, new Map([["spring.sql.init.platform", "postgresql"]]))).toBe(true);
    expect(warned({}, new Map([["spring.datasource.platform", " PostgreSQL "]]))).toBe(true);
    expect(warned({}, new Map([["spring.sql.init.platform", "mysql"]]))).toBe(false);
    expect(warned({ database: { type: "mysql" } })).toBe(false);
    expect(warned({})).toBe(false);
  });
});
