/** The pod of a node (DSP-508, 509, 725). */
import { controllerReference } from "@quartet/core";
import type { Pod } from "@quartet/core/kinds";
import type { JsonMap } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import { mapOf } from "../json.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import {
  COMBINED_HASH,
  IN_PLACE_READY,
  KRUISE_POD_READY,
  PATCHES_APPLIED,
  REVISION_LABEL,
  TEMPLATE_GENERATION,
  TEMPLATE_GENERATION_ANNOTATION,
} from "./keys.ts";
import type { Toleration } from "./objects.ts";
import type { PatchMatch } from "./patch-set.ts";
import { strategyOf } from "./strategy.ts";
import { withDefaultTolerations } from "./tolerations.ts";

export interface PodRequest {
  readonly daemonSet: Pick<DaemonSet, "metadata" | "spec">;
  readonly node: string;
  /** The node's effective template. */
  readonly template: PodTemplate;
  readonly match: Pick<PatchMatch, "indexes" | "combinedHash">;
  /** Hash of the whole list of patches. */
  readonly listHash: string;
  /** H_t. */
  readonly revision: string;
}

/** A pod that can run on its node alone. */
export function podFor({ daemonSet, node, template, match, listHash, revision }: PodRequest): Pod {
  const { metadata = {}, spec = {} } = template;
  const { name, namespace } = daemonSet.metadata;
  const own = mapOf(metadata.annotations) as Record<string, string>;
  const annotations = match.combinedHash === "" ? own : { ...own, ...patchAnnotations(match, listHash) };
  const finalizers = Array.isArray(metadata.finalizers) ? (metadata.finalizers as string[]) : [];
  const readinessGates = gatesOf(daemonSet, spec);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: {
        ...(mapOf(metadata.labels) as Record<string, string>),
        ...versionLabels(daemonSet.metadata, revision),
      },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(finalizers.length > 0 && { finalizers }),
      ownerReferences: [controllerReference(DAEMON_SET, daemonSet)],
    } as Pod["metadata"],
    spec: {
      ...spec,
      affinity: pinned(spec.affinity, node),
      tolerations: [...withDefaultTolerations(tolerationsOf(spec), spec.hostNetwork === true)],
      ...(readinessGates.length > 0 && { readinessGates }),
    } as Pod["spec"] & object,
  };
}

/** Annotations that tell which patches stand in a pod; the match must hold some. */
export function patchAnnotations(
  { combinedHash, indexes }: Pick<PatchMatch, "indexes" | "combinedHash">,
  listHash: string,
): Record<string, string> {
  return { [COMBINED_HASH]: combinedHash, [PATCHES_APPLIED]: `${listHash}/${indexes.join(",")}` };
}

/** Labels that tell a pod's version: the hash, and the template generation of a DaemonSet that still has one. */
export function versionLabels(
  { annotations }: DaemonSet["metadata"],
  revision: string,
): Record<string, string> {
  const generation = templateGeneration(annotations);
  return {
    [REVISION_LABEL]: revision,
    ...(generation !== undefined && { [TEMPLATE_GENERATION]: generation }),
  };
}

/** The template generation in the annotations of a DaemonSet, when it is a whole number. */
export function templateGeneration(annotations: Readonly<Record<string, string>> = {}): string | undefined {
  const generation = annotations[TEMPLATE_GENERATION_ANNOTATION];
  return generation !== undefined && /^-?[0-9]{1,19}$/.test(generation) ? generation : undefined;
}

/** The template's readiness gates and those that the DaemonSet's own features need, each once (DSP-739, 817). */
function gatesOf({ spec }: Pick<DaemonSet, "spec">, { readinessGates }: JsonMap): JsonMap[] {
  const own = listOf(readinessGates) as JsonMap[];
  const needed = [
    ...(strategyOf(spec).isInPlace ? [IN_PLACE_READY] : []),
    ...(mapOf(mapOf(spec.lifecycle).preDelete).markPodNotReady === true ? [KRUISE_POD_READY] : []),
  ];
  const missing = needed.filter((gate) => !own.some(({ conditionType }) => conditionType === gate));
  return [...own, ...missing.map((conditionType) => ({ conditionType }))];
}

/** The node that the pod's required affinity pins it to; `undefined` when it names none, or several. */
export function pinnedNode(spec: Pod["spec"]): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const required = mapOf(
    mapOf(mapOf(spec?.affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution,
  );
  const [term, ...others] = listOf(required.nodeSelectorTerms);
  const [field, ...more] = listOf(mapOf(term).matchFields);
  const { key, operator, values } = mapOf(field);
  const [name, ...rest] = listOf(values);
  const single = others.length + more.length + rest.length === 0;
  return single && key === "metadata.name" && operator === "In" && typeof name === "string"
    ? name
    : undefined;
}

function pinned(affinity: unknown, node: string): JsonMap {
  const { nodeAffinity, ...others } = mapOf(affinity);
  const term = { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] };
  return {
    ...others,
    nodeAffinity: {
      ...mapOf(nodeAffinity),
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  };
}

function tolerationsOf(spec: JsonMap): Toleration[] {
  return listOf(spec.tolerations) as Toleration[];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
