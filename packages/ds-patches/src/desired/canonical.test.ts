import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson, jsonBytes } from "./canonical.ts";

it("DSP-601 keys are sorted by bytes, numbers are plain, characters of HTML stay", () => {
  const value = { b: [2, 1], "\u{1F600}": 1, "\uFB01": 2, a: { z: null, y: "<&>" }, big: 1e21 };
  expect(canonicalJson(value)).toBe(
    '{"a":{"y":"<&>","z":null},"b":[2,1],"big":1000000000000000000000,"\uFB01":2,"\u{1F600}":1}',
  );
});

it("DSP-601 the text does not depend on the order of keys, and reads back as the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = JSON.parse(JSON.stringify(value), (_, member) =>
        typeof member === "object" && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).reverse())
          : member,
      );
      expect(canonicalJson(copy)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("DSP-336 the size of a patch counts bytes of UTF-8", () => {
  expect(jsonBytes({ a: "é" })).toBe('{"a":""}'.length + 2);
});
