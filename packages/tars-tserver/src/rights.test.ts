import { expect, it } from "vitest";
import { RIGHTS } from "./rights.ts";

const verbsOf = (plural: string, subresource?: string) =>
  RIGHTS.filter(
    (right) => right.kind.plural === plural && right.subresource === subresource && right.when === undefined,
  )
    .flatMap(({ verbs }) => verbs)
    .sort();

it.each(["services", "statefulsets", "daemonsets", "tendpoints"])(
  "TARS-X-005 %s are written whole",
  (plural) => {
    expect(verbsOf(plural)).toEqual(["create", "delete", "get", "list", "update", "watch"]);
  },
);

it.each(["ttemplates", "tframeworkconfigs", "pods"])("TARS-X-005 TARS-RG-002 %s are only read", (plural) => {
  expect(verbsOf(plural)).toEqual(["get", "list", "watch"]);
  expect(verbsOf(plural, "status")).toEqual([]);
});

it("TARS-X-005 TARS-V-029 TServers are never deleted", () => {
  expect(verbsOf("tservers")).toEqual(["create", "get", "list", "patch", "watch"]);
});
