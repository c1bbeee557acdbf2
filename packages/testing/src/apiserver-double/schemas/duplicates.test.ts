import * as fc from "fast-check";
import { expect, it } from "vitest";
import { duplicateKeys } from "./duplicates.ts";

it.each([
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":{"b":1,"b":2},"c":[{"d":1},{"d":1,"d":2}]}', ["a.b", "c[1].d"]],
  ['{"a":"{\\"x\\":1,\\"x\\":2}","b":[1,2,{"c":[{"e":1,"e":1}]}]}', ["b[2].c[0].e"]],
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['[{"a":1},{"a":1}]', []],
  ['{"a":"a","b":"a"}', []],
])("duplicates of %s", (json, wanted) => {
  expect(duplicateKeys(json)).toEqual(wanted);
});

it("what JSON.stringify prints has none", () => {
  void fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(duplicateKeys(JSON.stringify(value))).toEqual([]);
    }),
  );
});
