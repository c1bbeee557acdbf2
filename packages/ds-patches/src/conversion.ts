/** Conversion between v1beta1, which is stored, and v1alpha1 (DSP-213 to 215). */
import type { KubeObject } from "@quartet/core";
import { type Conversion, conversion } from "@quartet/core/webhook";
import type { DaemonSetV1Alpha1 } from "./api.gen.ts";
import { canonicalJson } from "./desired/canonical.ts";
import { PARTITIONED_SCALING, PATCHES } from "./desired/keys.ts";
import { annotatedPatches } from "./desired/patch-source.ts";
import { isMap, mapOf } from "./json.ts";
import { DAEMON_SET, type DaemonSet } from "./kinds.ts";

/** An object of either version, as far as the conversion looks at it. */
interface Versioned extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

const SURGING = "Surging";
const STANDARD = "Standard";

/** What v1alpha1 says by annotations and by its own words becomes fields. */
export function fromV1Alpha1(given: DaemonSetV1Alpha1): DaemonSet {
  const object = { ...given } as Versioned;
  const { annotations = {} } = object.metadata;
  const { patches } = annotatedPatches(annotations[PATCHES] ?? "[]");
  if (isMap(object.spec)) {
    const { patches: _none, scaleStrategy: _neither, ...spec } = object.spec;
    object.spec = {
      ...spec,
      ...(isMap(spec.updateStrategy) && { updateStrategy: withoutSurging(spec.updateStrategy) }),
      ...(annotations[PARTITIONED_SCALING] === "true" && { scaleStrategy: { partitionedScaling: true } }),
      // What is no list is left for admission to tell.
      ...(Array.isArray(patches) && patches.length > 0 && { patches }),
    };
  }
  if (isMap(object.status)) {
    const { daemonSetHash, ...status } = object.status;
    object.status = { ...status, ...(daemonSetHash ? { updateRevision: daemonSetHash } : {}) };
  }
  return object as DaemonSet;
}

/** The peer's defaults for the type that v1beta1 does not have: one pod more, none less. */
function withoutSurging(strategy: Record<string, unknown>): Record<string, unknown> {
  const rolling = mapOf(strategy.rollingUpdate);
  if (rolling.rollingUpdateType !== SURGING) return strategy;
  const { maxSurge = 1, maxUnavailable = 0 } = rolling;
  return {
    ...strategy,
    rollingUpdate: { ...rolling, rollingUpdateType: STANDARD, maxSurge, maxUnavailable },
  };
}

/** The inverse: fields that v1alpha1 lacks stand in annotations. */
export function toV1Alpha1(given: DaemonSet): DaemonSetV1Alpha1 {
  const object = { ...given } as Versioned;
  const { [PARTITIONED_SCALING]: _said, ...annotations } = object.metadata.annotations ?? {};
  if (isMap(object.spec)) {
    const { patches, scaleStrategy, ...spec } = object.spec;
    object.spec = spec;
    if (Array.isArray(patches) && patches.length > 0) annotations[PATCHES] = canonicalJson(patches);
    if (mapOf(scaleStrategy).partitionedScaling === true) annotations[PARTITIONED_SCALING] = "true";
  }
  if (isMap(object.status)) {
    const { updateRevision = "", ...status } = object.status;
    object.status = { ...status, daemonSetHash: updateRevision };
  }
  const { annotations: _old, ...metadata } = object.metadata;
  object.metadata = { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) };
  return object as DaemonSetV1Alpha1;
}

export const CONVERSIONS: readonly Conversion[] = [
  conversion<DaemonSet>(
    DAEMON_SET,
    [
      {
        version: "v1alpha1",
        toHub: (object) => fromV1Alpha1(object as DaemonSetV1Alpha1),
        fromHub: toV1Alpha1,
      },
    ],
    { when: { flag: "daemonset-mode", is: ["auto", "owner"] } },
  ),
];
