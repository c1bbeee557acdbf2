import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeConfig } from "./merge.ts";
import { PropertiesError, parseProperties, readProperties } from "./properties.ts";

/** The rule book's vectors P1 to P31: text and effective properties. */
const vectors: [name: string, text: string, effective: Record<string, string>][] = [
  ["P1", "a=1\na=2", { a: "2" }],
  ["P2", "a: 1", { a: "1" }],
  ["P3", "a 1", { a: "1" }],
  ["P4", "a   =   1  ", { a: "1  " }],
  ["P5", "a=1\\\n   2", { a: "12" }],
  ["P6", "a=1\\", { a: "1" }],
  ["P7", "# c\\\nb=2", { b: "2" }],
  ["P8", "!x\nb=2", { b: "2" }],
  ["P9", "a\\=b=c", { "a=b": "c" }],
  ["P10", "a\\:b:c", { "a:b": "c" }],
  ["P11", "a\\ b=c", { "a b": "c" }],
  ["P12", "a=\\u4e2d", { a: "中" }],
  ["P13", "a=x#y", { a: "x#y" }],
  ["P14", "a", { a: "" }],
  ["P15", "a=", { a: "" }],
  ["P16", "=v", {}],
  ["P17", "  a=1", { a: "1" }],
  ["P18", "a=\\t;\\n;\\q", { a: "\t;\n;q" }],
  ["P19", "a=1\r\nb=2", { a: "1", b: "2" }],
  ["P20", "a=1\rb=2", { a: "1", b: "2" }],
  ["P21", "a=1\\\n#b=2", { a: "1#b=2" }],
  ["P22", "a==1", { a: "=1" }],
  ["P23", "a=1\\\\\nb=2", { a: "1\\", b: "2" }],
  ["P24", "a=1\\\n\n\n# h\nb=2", { a: "1", b: "2" }],
  ["P26", "server\\.port=1", { "server.port": "1" }],
  ["P27", "server.po\\\n   rt=1", { "server.port": "1" }],
  ["P28", "\\u0073erver.port=1", { "server.port": "1" }],
  [
    "P29",
    mergeConfig({ internal: "server.port=8848", user: "server.port : 9999" }),
    { "server.port": "9999" },
  ],
  ["P31", "# \\u12", {}],
];

describe("properties", () => {
  it.each(vectors)("NACOS-325 reads vector %s as Nacos does", (_name, text, effective) => {
    expect(Object.fromEntries(parseProperties(text))).toEqual(effective);
  });

  it("NACOS-325 NACOS-327 refuses a malformed escape (vector P25) and names its line alone", () => {
    const fault = (text: string): PropertiesError => {
      try {
        parseProperties(text);
      } catch (error) {
        return error as PropertiesError;
      }
      throw new Error("nothing was refused");
    };
    expect(fault("a=\\u12")).toBeInstanceOf(PropertiesError);
    expect(fault("# one\n\nsecret=hidden\\u12G4").line).toBe(3);
    expect(fault("# one\n\nsecret=hidden\\u12G4").message).not.toContain("hidden");
    expect(fault("a=1\\\n  2\\\n  \\uXXXX\nb=2").line).toBe(3);
    expect(fault("\\u00zz=1").line).toBe(1);
  });

  it("NACOS-307 keeps the user's header out of an internal text that ends in a line continuation", () => {
    const merged = mergeConfig({ internal: "a=1\\", user: "b=2" });
    expect(Object.fromEntries(parseProperties(merged))).toEqual({ a: "1", b: "2" });
  });

  it("NACOS-328 reads raw UTF-8 as three Latin-1 characters (vector P30) and marks it", () => {
    expect(readProperties("a=中\nb=1")).toEqual([
      { key: "a", value: "ä¸­", line: 1, nonAscii: true },
      { key: "b", value: "1", line: 2, nonAscii: false },
    ]);
    expect(readProperties("# 用户\nb=1").some((property) => property.nonAscii)).toBe(false);
  });

  it("NACOS-325 agrees with java.util.Properties on the whole corpus", () => {
    const lines = readFileSync(new URL("../../test/corpus/properties.jsonl", import.meta.url), "utf8");
    const cases = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string; text: string; effective?: object; error?: string });
    expect(cases).toHaveLength(300);
    for (const { name, text, effective } of cases) {
      const read = (): object => Object.fromEntries(parseProperties(text));
      if (effective === undefined) expect(read, name).toThrow(PropertiesError);
      else expect(read(), name).toEqual(effective);
    }
  });

  it("reads back every key and value that was escaped as Java stores them", () => {
    const stored = (text: string): string =>
      [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const unit = fc.string({
      unit: fc.integer({ min: 1, max: 0xd7ff }).map((n) => String.fromCharCode(n)),
      minLength: 1,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(unit, unit)), (pairs) => {
        const text = pairs.map(([key, value]) => `${stored(key)}=${stored(value)}`).join("\n");
        expect(parseProperties(text)).toEqual(new Map(pairs));
      }),
    );
  });
});
