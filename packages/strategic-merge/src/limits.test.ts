import { describe, expect, it } from "vitest";
import {
  createThreeWayPatch,
  createTwoWayPatch,
  dropUnknownFields,
  StrategicMergeError,
  strategicMerge,
} from "./index.ts";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

const containers = (count: number, image: string): object => ({
  spec: { containers: Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image })) },
});
const TYPE = "PodTemplateSpec";
const calls: [string, (value: object) => unknown][] = [
  ["original of a merge", (value) => strategicMerge(TYPE, value, { metadata: { name: "x" } })],
  ["patch", (value) => strategicMerge(TYPE, {}, value)],
  ["two-way patch", (value) => createTwoWayPatch(TYPE, {}, value)],
  ["three-way patch", (value) => createThreeWayPatch(TYPE, { original: {}, modified: value, current: {} })],
  ["unknown fields", (value) => dropUnknownFields(TYPE, value)],
];

describe("limits", () => {
  it.each(calls)("CORE-191 %s: a value nested too deep is refused, not a stack overflow", (_, call) => {
    const failure = catchOf(() => call({ metadata: { annotations: nested(100_000) } }));
    expect(failure).toBeInstanceOf(StrategicMergeError);
    expect(failure).toMatchObject({ problem: "TooLarge", message: "is nested deeper than 200 levels" });
    expect(catchOf(() => call({ metadata: { annotations: {} } }))).toBeUndefined();
  });

  it("CORE-193 refuses lists that are too long to be compared item by item, and names them", () => {
    for (const call of [
      () => strategicMerge(TYPE, containers(2_001, "a"), containers(2, "b")),
      () => strategicMerge(TYPE, containers(2, "a"), containers(2_001, "b")),
      () => createTwoWayPatch(TYPE, containers(2_001, "a"), containers(2_001, "b")),
      () =>
        createThreeWayPatch(TYPE, {
          original: containers(2_001, "a"),
          modified: containers(2_001, "b"),
          current: containers(2_001, "c"),
        }),
    ]) {
      expect(catchOf(call)).toMatchObject({ problem: "TooLarge", path: "spec.containers" });
    }
    expect(strategicMerge(TYPE, containers(2_000, "a"), containers(2_000, "b"))).toEqual(
      containers(2_000, "b"),
    );
  });
});

function catchOf(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}
