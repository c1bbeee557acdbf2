import { describe, expect, it } from "vitest";
import type { TConfig } from "../api.gen.ts";
import { ACTIVATED_AT_ANNOTATION, DEACTIVATE_LABEL, DEACTIVATING_LABEL, DELETING_LABEL } from "../labels.ts";
import { planItem } from "./config.ts";

const config = (
  name: string,
  activated: boolean,
  minute: number,
  labels: Record<string, string> = {},
): TConfig => ({
  apiVersion: "k8s.tars.io/v1beta2",
  kind: "TConfig",
  metadata: {
    name,
    uid: name,
    labels,
    creationTimestamp: `2024-01-01T00:${String(minute).padStart(2, "0")}:00Z`,
    annotations: { [ACTIVATED_AT_ANNOTATION]: `2024-01-01T00:${String(minute).padStart(2, "0")}:00.500Z` },
  },
  ...{ app: "Demo", server: "EchoServer", configName: "a.conf", podSeq: "m", configContent: "", activated },
});
const names = (
  configs: readonly { readonly metadata: { readonly name?: string } }[],
): (string | undefined)[] => configs.map(({ metadata }) => metadata.name);

describe("planItem", () => {
  it("TARS-R-050 D3 marks of either form are carried out when another version is in force", () => {
    const old = config("old", true, 1, { [DEACTIVATE_LABEL]: "Deactivating" });
    const older = config("older", true, 0, { [DEACTIVATING_LABEL]: "" });
    const plan = planItem([old, config("new", true, 2), older], 10);
    expect(names(plan.deactivate).sort()).toEqual(["old", "older"]);
    expect(plan.unexplained).toEqual([]);
  });

  it("TARS-R-051 a marked version that nothing takes the place of is not touched yet", () => {
    const plan = planItem([config("old", true, 1, { [DEACTIVATE_LABEL]: "x" }), config("off", false, 0)], 10);
    expect(plan.deactivate).toEqual([]);
    expect(names(plan.unexplained)).toEqual(["old"]);
  });

  it("TARS-R-052 of several in force the one that was activated last stays", () => {
    const plan = planItem([config("b", true, 3), config("a", true, 1), config("c", true, 2)], 10);
    expect(names(plan.deactivate).sort()).toEqual(["a", "c"]);
  });

  it("TARS-R-050 a version is deactivated for another one whatever the clocks say", () => {
    const later = config("later", true, 59, { [DEACTIVATE_LABEL]: "Deactivating" });
    expect(names(planItem([later, config("new", true, 1)], 10).deactivate)).toEqual(["later"]);
  });

  it("TARS-R-058 old versions of a master go like others, the one in force stays", () => {
    const versions = [
      config("new", true, 0),
      ...[1, 2, 3].map((minute) => config(`v${minute}`, false, minute)),
    ];
    expect(names(planItem(versions, 1).remove)).toEqual(["v1", "v2"]);
  });

  it("TARS-R-053 TARS-R-056 what is marked goes, and the oldest beyond the limit; never the one in force", () => {
    const versions = [
      config("new", true, 0),
      ...[1, 2, 3, 4].map((minute) => config(`v${minute}`, false, minute)),
      config("doomed", false, 9, { [DELETING_LABEL]: "Deleting" }),
    ];
    expect(names(planItem(versions, 2).remove).sort()).toEqual(["doomed", "v1", "v2"]);
    expect(names(planItem([config("only", true, 0)], 0).remove)).toEqual([]);
  });
});

it("TARS-R-056 a hundred thousand versions of one item are judged in linear time, and all but the newest go", () => {
  const many = Array.from({ length: 100_000 }, (_, n) => ({
    apiVersion: "k8s.tars.io/v1beta2",
    kind: "TConfig",
    metadata: { name: `v${n}`, uid: `u${n}`, creationTimestamp: new Date(n * 1_000).toISOString() },
    ...{ app: "A", server: "S", configName: "c", configContent: "", activated: n === 99_999 },
  }));
  const begin = performance.now();
  const { remove, deactivate } = planItem(many as never, 10);
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(deactivate).toEqual([]);
  expect(remove).toHaveLength(99_989);
  expect(remove.map(({ metadata }) => metadata.name)).not.toContain("v99989");
});
