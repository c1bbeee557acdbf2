import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  difference,
  type FieldSet,
  fromFieldsV1,
  intersection,
  pathsOf,
  showPath,
  toFieldsV1,
  union,
} from "./field-set.ts";

const key = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'v:"y"');
const fields = fc.letrec<{ set: Record<string, object> }>((tie) => ({
  set: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, fc.constant({}), tie("set")), { maxKeys: 4 }),
})).set;
const set = fields.map(fromFieldsV1);
const paths = (value: FieldSet): string[] =>
  pathsOf(value)
    .map((path) => path.join(" "))
    .sort();

it("CORE-471 fieldsV1 is read and printed without loss", () => {
  void fc.assert(
    fc.property(set, (value) => {
      expect(paths(fromFieldsV1(toFieldsV1(value)))).toEqual(paths(value));
    }),
  );
});

it("CORE-471 union, intersection and difference are those of the sets of paths", () => {
  void fc.assert(
    fc.property(set, set, (left, right) => {
      const a = new Set(paths(left));
      const b = new Set(paths(right));
      expect(paths(union(left, right))).toEqual([...new Set([...a, ...b])].sort());
      expect(paths(intersection(left, right))).toEqual([...a].filter((path) => b.has(path)).sort());
      expect(paths(difference(left, right))).toEqual([...a].filter((path) => !b.has(path)).sort());
    }),
  );
});

it("paths are shown as in conflicts", () => {
  const path = ["f:spec", 'k:{"containerPort":80,"protocol":"TCP"}', "f:name", 'v:"x"'];
  expect(showPath(path)).toBe('.spec[containerPort=80,protocol="TCP"].name[="x"]');
});
