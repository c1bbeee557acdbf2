import { describe, expect, it } from "vitest";
import { planSchema, schemaRequest } from "./plan.ts";
import { bundledSql, POSTGRES_SCHEMAS } from "./schema.ts";

const EMPTY = { present: false };
const FOREIGN = { present: true };
const AT = (sentinel: number): { present: boolean; sentinel: number } => ({ present: true, sentinel });

describe("the request", () => {
  it("NACOS-102 NACOS-714 has the defaults of the spec, and is none when it is switched off", () => {
    const request = { policy: "IfNotPresent", version: 1 };
    expect(schemaRequest({})).toEqual(request);
    expect(schemaRequest({ pgInit: { policy: "", schemaVersion: 0 } })).toEqual(request);
    // The schema allows null where the types do not.
    expect(schemaRequest(JSON.parse('{"pgInit": {"enabled": null}}'))).toEqual(request);
    expect(schemaRequest({ pgInit: { policy: "Always", schemaVersion: 2 } })).toEqual({
      policy: "Always",
      version: 2,
    });
    expect(schemaRequest({ pgInit: { enabled: false } })).toBeUndefined();
    expect(schemaRequest({ pgInit: { policy: "Never" } })).toBeUndefined();
  });

  it("names the field when there is no script for the version", () => {
    for (const schemaVersion of [-1, 3]) {
      expect(schemaRequest({ pgInit: { schemaVersion } })).toEqual({
        reason: "PostgresConfigInvalid",
        message: "spec.pgInit.schemaVersion must be from 1 to 2",
        code: 301,
      });
    }
  });
});

describe("the plan", () => {
  const plan = (
    policy: "IfNotPresent" | "Always" | "BumpVersion",
    version: number,
    state: object,
  ): unknown => {
    const result = planSchema({ policy, version }, state as typeof EMPTY);
    return result.action === "run"
      ? [result.scripts.map((script) => POSTGRES_SCHEMAS.indexOf(script) + 1), result.version]
      : `${result.action} ${result.version}`;
  };

  it("NACOS-716 IfNotPresent fills an empty database, and touches no other", () => {
    expect(plan("IfNotPresent", 1, EMPTY)).toEqual([[1], 1]);
    expect(plan("IfNotPresent", 2, EMPTY)).toEqual([[1, 2], 2]);
    expect(plan("IfNotPresent", 2, FOREIGN)).toBe("none 0");
    expect(plan("IfNotPresent", 2, AT(1))).toBe("none 1");
    expect(plan("IfNotPresent", 1, AT(2))).toBe("none 2");
  });

  it("NACOS-717 BumpVersion runs the steps that are missing, in order, and never goes back", () => {
    expect(plan("BumpVersion", 2, EMPTY)).toEqual([[1, 2], 2]);
    expect(plan("BumpVersion", 2, FOREIGN)).toEqual([[1, 2], 2]);
    expect(plan("BumpVersion", 2, AT(1))).toEqual([[2], 2]);
    expect(plan("BumpVersion", 2, AT(2))).toBe("none 2");
    expect(plan("BumpVersion", 1, AT(2))).toBe("refuse 2");
  });

  it("NACOS-717 Always runs all steps, and does not lower the sentinel", () => {
    expect(plan("Always", 1, EMPTY)).toEqual([[1], 1]);
    expect(plan("Always", 2, AT(2))).toEqual([[1, 2], 2]);
    expect(plan("Always", 1, AT(2))).toEqual([[1], 2]);
  });
});

describe("the scripts", () => {
  it("NACOS-708 an empty one ends the program as it is loaded", () => {
    for (const text of ["", " \n", "-- only\n/* a\ncomment */"]) {
      expect(() => bundledSql("schema 1", text)).toThrow("bundled SQL schema 1 is empty");
    }
    expect(bundledSql("schema 1", "-- one\nselect 1;")).toBe("-- one\nselect 1;");
  });

  it("NACOS-709 NACOS-719 create what is absent; none drops, empties, deletes from or inserts into a table", () => {
    for (const script of POSTGRES_SCHEMAS) {
      expect(script).not.toMatch(/\b(drop|truncate|delete|insert|update|grant|copy)\b/i);
      const creations = script.match(/create (table|index|unique)[^;(]*/gi) ?? [];
      expect(creations.length).toBeGreaterThan(2);
      for (const creation of creations) expect(creation).toContain(" if not exists ");
      for (const addition of script.match(/add column[^;]*/gi) ?? [])
        expect(addition).toContain(" if not exists ");
    }
  });
});
