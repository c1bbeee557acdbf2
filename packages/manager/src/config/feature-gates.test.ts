import type { FeatureGate } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { resolveFeatureGates, stageLabel } from "./feature-gates.ts";

const gate = (name: string, stage: FeatureGate["stage"]): FeatureGate => ({
  name,
  stage,
  since: "0.1.0",
  owner: "test",
  help: name,
});
const gates = [gate("A", "Alpha"), gate("B", "Beta"), gate("G", "GA"), gate("D", "Deprecated")];

describe("feature gates", () => {
  it("CORE-393 starts with Alpha off, Beta on, GA on, Deprecated off", () => {
    expect(resolveFeatureGates("", gates)).toEqual({
      features: { A: false, B: true, G: true, D: false },
      warnings: [],
    });
  });

  it("CORE-393 warns about an alpha gate that is on", () => {
    const { features, warnings } = resolveFeatureGates("A=true, B=false", gates);
    expect(features).toMatchObject({ A: true, B: false });
    expect(warnings).toEqual(["feature gate A is alpha and switched on"]);
  });

  it("CORE-393 lets AllAlpha and AllBeta set what is not set by name, whatever the order", () => {
    expect(resolveFeatureGates("A=false,AllAlpha=true,AllBeta=false", gates).features).toEqual({
      A: false,
      B: false,
      G: true,
      D: false,
    });
  });

  it.each([
    ["X=true", "unrecognized feature gate: X"],
    ["A=maybe", "invalid value of A=maybe"],
    ["A", "missing value of feature gate A"],
    ["G=false", "cannot set feature gate G to false"],
  ])("CORE-393 refuses %s", (text, message) => {
    expect(() => resolveFeatureGates(text, gates)).toThrow(message);
  });

  it("CORE-393 keeps accepting a GA gate that is set to true", () => {
    expect(resolveFeatureGates("G=true", gates).features.G).toBe(true);
  });

  it("CORE-393 tells the close name of a gate that is not known", () => {
    expect(() => resolveFeatureGates("LabelPatche=false", [gate("LabelPatches", "Beta")])).toThrow(
      "did you mean LabelPatches?",
    );
  });

  it("names stages as Kubernetes components do", () => {
    expect(["Alpha", "Beta", "GA", "Deprecated"].map((stage) => stageLabel(stage as "GA"))).toEqual([
      "ALPHA",
      "BETA",
      "",
      "DEPRECATED",
    ]);
  });
});
