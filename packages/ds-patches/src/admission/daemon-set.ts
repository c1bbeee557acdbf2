/** Admission of a DaemonSet apart from its patches (DSP-302 to 323), and its defaults (DSP-201 to 203). */
import type { DeepReadonly } from "@quartet/core";
import { canonicalJson } from "../desired/canonical.ts";
import { isIntOrPercent } from "../desired/limits.ts";
import { isReservedKey } from "../desired/placement.ts";
import { compileSelector, selectorMistakes } from "../desired/selector.ts";
import { isMap, mapOf, mapsOf } from "../json.ts";
import type { DaemonSet, RollingUpdate } from "../kinds.ts";
import type { Violation } from "./verdict.ts";

/** What an object gets that leaves it out (peer). */
const DEFAULT_BURST = 250;
const DEFAULT_HISTORY = 10;
const MUTABLE =
  "burstReplicas, template, lifecycle, updateStrategy, scaleStrategy, minReadySeconds, revisionHistoryLimit, patches";
const PERCENT_HINT = "must be a whole number of at least 0 or a percentage from 0% to 100%";

/** The object with the defaults of the peer; the template is left as it is (DSP-204). */
export function withDefaults(daemonSet: DaemonSet): DaemonSet {
  const { spec } = daemonSet;
  const { updateStrategy = {} } = spec;
  const { type = "RollingUpdate", rollingUpdate } = updateStrategy;
  return {
    ...daemonSet,
    spec: {
      ...spec,
      burstReplicas: spec.burstReplicas ?? DEFAULT_BURST,
      revisionHistoryLimit: spec.revisionHistoryLimit ?? DEFAULT_HISTORY,
      updateStrategy: {
        ...updateStrategy,
        type,
        ...(type === "RollingUpdate" && { rollingUpdate: rollingDefaults(rollingUpdate ?? {}) }),
      },
    },
  };
}

/** Of the two budgets one that is set leaves the other alone (DSP-202). */
function rollingDefaults(rolling: RollingUpdate): RollingUpdate {
  const isSet = rolling.maxUnavailable !== undefined || rolling.maxSurge !== undefined;
  return {
    rollingUpdateType: "Standard",
    ...(!isSet && { maxUnavailable: 1, maxSurge: 0 }),
    ...rolling,
  };
}

/** All that is wrong with the spec itself. */
export function specViolations(daemonSet: DeepReadonly<DaemonSet>): Violation[] {
  const spec = daemonSet.spec as DaemonSet["spec"];
  return [
    ...selectorViolations(spec),
    ...templateViolations(spec),
    ...numberViolations(spec),
    ...strategyViolations(spec),
  ];
}

function selectorViolations({ selector, template }: DaemonSet["spec"]): Violation[] {
  const path = "spec.selector";
  const mistakes = selectorMistakes(selector);
  if (mistakes.length > 0) {
    return mistakes.map((mistake) => ({ path: `${path}${mistake.path}`, message: mistake.message }));
  }
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) {
    return [{ path, message: "empty selector is invalid for a daemonset: name a label of the pods" }];
  }
  const labels = mapOf(template.metadata?.labels) as Record<string, string>;
  if (compileSelector(selector)?.(labels)) return [];
  return [{ path: "spec.template.metadata.labels", message: "selector does not match template labels" }];
}

function templateViolations({ template }: DaemonSet["spec"]): Violation[] {
  const found: Violation[] = [];
  const { restartPolicy, activeDeadlineSeconds, volumes } = mapOf(template.spec);
  if (restartPolicy !== undefined && restartPolicy !== "Always") {
    const message = `${JSON.stringify(restartPolicy)} is not supported: only Always is; remove it`;
    found.push({ path: "spec.template.spec.restartPolicy", message });
  }
  if (activeDeadlineSeconds !== undefined && activeDeadlineSeconds !== null) {
    const message = "forbidden: a pod of a DaemonSet has no end; remove it";
    found.push({ path: "spec.template.spec.activeDeadlineSeconds", message });
  }
  for (const [index, { gcePersistentDisk }] of mapsOf(volumes).entries()) {
    if (gcePersistentDisk === undefined || mapOf(gcePersistentDisk).readOnly === true) continue;
    const message = "must be true: the pods of several nodes can only read a disk";
    found.push({ path: `spec.template.spec.volumes[${index}].gcePersistentDisk.readOnly`, message });
  }
  for (const field of ["labels", "annotations"]) {
    for (const key of Object.keys(mapOf(template.metadata?.[field])).filter(isReservedKey)) {
      const path = `spec.template.metadata.${field}[${key}]`;
      found.push({ path, message: "forbidden: the key is reserved for the controller; remove it" });
    }
  }
  return found;
}

function numberViolations(spec: DaemonSet["spec"]): Violation[] {
  const negative = (["minReadySeconds", "revisionHistoryLimit"] as const).filter(
    (name) => (spec[name] ?? 0) < 0,
  );
  return [
    ...negative.map((name) => ({ path: `spec.${name}`, message: "must be non-negative" })),
    ...percentViolations({ burstReplicas: spec.burstReplicas }, "spec"),
  ];
}

function percentViolations(values: Readonly<Record<string, unknown>>, path: string): Violation[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && !isIntOrPercent(value))
    .map(([name, value]) => ({
      path: `${path}.${name}`,
      message: `${JSON.stringify(value)}: ${PERCENT_HINT}`,
    }));
}

function strategyViolations({ updateStrategy = {}, lifecycle }: DaemonSet["spec"]): Violation[] {
  const path = "spec.updateStrategy";
  const found: Violation[] = [];
  const refuse = (at: string, message: string): unknown => found.push({ path: at, message });
  const { type = "RollingUpdate", rollingUpdate = {} } = updateStrategy;
  if (!["RollingUpdate", "OnDelete"].includes(type)) {
    refuse(`${path}.type`, `${JSON.stringify(type)} is not supported: use RollingUpdate or OnDelete`);
  }
  if (isMap(lifecycle) && lifecycle.inPlaceUpdate !== undefined) {
    refuse("spec.lifecycle.inPlaceUpdate", "forbidden: not supported; remove it");
  }
  const rolling = `${path}.rollingUpdate`;
  const { rollingUpdateType = "Standard", maxUnavailable, maxSurge, partition, selector } = rollingUpdate;
  if (!["Standard", "InPlaceIfPossible"].includes(rollingUpdateType)) {
    const message = `${JSON.stringify(rollingUpdateType)} is not supported: use Standard or InPlaceIfPossible`;
    refuse(`${rolling}.rollingUpdateType`, message);
  }
  const wrong = percentViolations({ maxUnavailable, maxSurge, partition }, rolling);
  found.push(...wrong);
  if (selector !== undefined) {
    for (const mistake of selectorMistakes(selector))
      refuse(`${rolling}.selector${mistake.path}`, mistake.message);
  }
  if (type !== "RollingUpdate" || wrong.length > 0) return found;
  const isZero = (value: unknown): boolean => ["undefined", "0", "0%"].includes(String(value));
  const isGiven = maxUnavailable !== undefined || maxSurge !== undefined;
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    refuse(`${rolling}.maxSurge`, "may not be set when maxUnavailable is non-zero");
  } else if (isGiven && isZero(maxUnavailable) && isZero(maxSurge)) {
    refuse(`${rolling}.maxUnavailable`, "cannot be 0 when maxSurge is 0: set one of them");
  }
  if (rollingUpdateType === "InPlaceIfPossible" && !isZero(maxSurge)) {
    refuse(`${rolling}.maxSurge`, "must be 0 for InPlaceIfPossible");
  }
  return found;
}

/** What an update may not change (DSP-316). */
export function updateViolations(
  daemonSet: DeepReadonly<DaemonSet>,
  old: DeepReadonly<DaemonSet>,
): Violation[] {
  if (canonicalJson(daemonSet.spec.selector) === canonicalJson(old.spec.selector)) return [];
  const message = `forbidden: updates may change ${MUTABLE} alone; make a new DaemonSet for other pods`;
  return [{ path: "spec.selector", message }];
}
