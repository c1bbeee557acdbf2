/** Feature gates: switches of features that are not for everybody yet, or no longer. */
import {
  ConfigurationError,
  closest,
  didYouMean,
  type FeatureGate,
  type GateStage,
  splitPair,
} from "@quartet/core";

/** Outcome of {@link resolveFeatureGates}. */
export interface ResolvedGates {
  /** Every declared gate with its value. */
  readonly features: Readonly<Record<string, boolean>>;
  /** Texts to log as warnings. */
  readonly warnings: readonly string[];
}

/** Names that set every gate of a stage which is not set by its own name. */
const GROUPS: Readonly<Record<string, GateStage>> = { AllAlpha: "Alpha", AllBeta: "Beta" };

/** Gate values from a text such as `A=true,B=false,AllAlpha=true`; later entries win over earlier ones. */
export function resolveFeatureGates(text: string, gates: readonly FeatureGate[]): ResolvedGates {
  const own = new Map<string, boolean>();
  const groups = new Map<GateStage, boolean>();
  for (const [name, value] of parseEntries(text)) {
    const group = GROUPS[name];
    const gate = gates.find((candidate) => candidate.name === name);
    if (group !== undefined) groups.set(group, value);
    else if (gate === undefined) throw unknownGate(name, gates);
    else if (gate.stage === "GA" && !value) {
      throw new ConfigurationError(
        `cannot set feature gate ${name} to false: the feature is generally available since ${gate.since} and locked on; remove the entry`,
      );
    } else own.set(name, value);
  }
  const features: Record<string, boolean> = {};
  const warnings: string[] = [];
  for (const gate of gates) {
    const on =
      own.get(gate.name) ??
      (gate.stage === "GA" ? undefined : groups.get(gate.stage)) ??
      gate.default ??
      (gate.stage === "Beta" || gate.stage === "GA");
    features[gate.name] = on;
    const risky = gate.stage === "Alpha" || gate.stage === "Deprecated";
    if (on && risky)
      warnings.push(`feature gate ${gate.name} is ${gate.stage.toLowerCase()} and switched on`);
  }
  return { features, warnings };
}

/** Value of the label `stage` of the metric `kubernetes_feature_enabled`, as Kubernetes components write it. */
export function stageLabel(stage: GateStage): string {
  return stage === "GA" ? "" : stage.toUpperCase();
}

function* parseEntries(text: string): Generator<[string, boolean]> {
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [name, value] = splitPair(entry);
    if (value === undefined) {
      throw new ConfigurationError(
        `missing value of feature gate ${name}: write ${name}=true or ${name}=false`,
      );
    }
    if (value !== "true" && value !== "false") {
      throw new ConfigurationError(`invalid value of ${name}=${value}: it must be true or false`);
    }
    yield [name, value === "true"];
  }
}

function unknownGate(name: string, gates: readonly FeatureGate[]): ConfigurationError {
  const known = [...gates.map((gate) => gate.name), ...Object.keys(GROUPS)];
  const close = closest(name, known);
  const hint = close.length > 0 ? didYouMean(close) : `; known are ${known.join(", ")}`;
  return new ConfigurationError(`unrecognized feature gate: ${name}${hint}`);
}
