import { describe, expect, it } from "vitest";
import { deepFreeze } from "../test/freeze.ts";
import { type JsonMap, strategicMerge } from "./index.ts";

const named = (...names: string[]): JsonMap[] => names.map((name) => ({ name }));
const remove = (name: string): JsonMap => ({ name, $patch: "delete" });

/** Names of the containers A, B, C after a patch with an order. */
function containers(
  list: JsonMap[] | undefined,
  order: JsonMap[],
  before: JsonMap[] = named("A", "B", "C"),
): string {
  const spec: JsonMap = { "$setElementOrder/containers": order, ...(list && { containers: list }) };
  const result = strategicMerge<JsonMap>(
    "PodTemplateSpec",
    deepFreeze({ spec: { containers: before } }),
    deepFreeze({ spec }),
  );
  return ((result.spec as JsonMap).containers as JsonMap[]).map(({ name }) => name).join(" ");
}

// Every result was observed with the strategic merge of the API server's own library.
describe("$setElementOrder", () => {
  it.each([
    ["a new item comes first when nothing was removed", named("X"), named("X"), "X A B C"],
    [
      "a new item takes the place that a removed one left at the end",
      [remove("A"), ...named("X")],
      named("X"),
      "B C X",
    ],
    ["the next new item follows it", [remove("A"), ...named("X", "Y")], named("X", "Y"), "B C X Y"],
    [
      "an item that is removed and added again keeps its place",
      [remove("C"), ...named("C")],
      named("C"),
      "A B C",
    ],
    ["an empty order turns new items round", named("X", "Y"), [], "A B C Y X"],
    ["the order alone re-orders", undefined, named("C", "A"), "B C A"],
  ])("DSP-426 %s", (_case, list, order, expected) => {
    expect(containers(list, order)).toBe(expected);
  });

  it("DSP-426 a list that the original lacks is brought into the order too", () => {
    const patch = { spec: { "$setElementOrder/containers": named("A", "B"), containers: named("A", "B") } };
    expect(strategicMerge<JsonMap>("PodTemplateSpec", {}, patch)).toEqual({
      spec: { containers: named("A", "B") },
    });
  });

  it("DSP-426 a marker that replaces the list leaves the order to decide", () => {
    expect(containers([{ $patch: "replace" }, ...named("Y", "X")], named("Y", "X"))).toBe("Y X");
  });

  it("DSP-426 DSP-434 there must be an item to order", () => {
    const message = "spec.containers: there is no item to order";
    expect(() => containers(undefined, named("A"), [])).toThrow(message);
  });
});
