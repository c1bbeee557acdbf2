/** Warnings about what is allowed and rarely meant (DSP-318, 331, 368). */
import type { DeepReadonly } from "@quartet/core";
import { type JsonMap, strategicMerge } from "@quartet/strategic-merge";
import type { NodePatch, PodTemplate } from "../api.ts";
import { patchSource } from "../desired/patch-source.ts";
import { PATCHES_GATE } from "../flags.ts";
import { isMap, mapOf, mapsOf } from "../json.ts";
import type { DaemonSet } from "../kinds.ts";
import type { Violation } from "./verdict.ts";

/** What advice depends on besides the object. */
export interface Circumstances {
  readonly mode: "owner" | "companion";
  /** The feature gate is on. */
  readonly patchesEnabled: boolean;
}

/** Texts for `Warning` headers. */
export function advice(
  daemonSet: DeepReadonly<DaemonSet>,
  { mode, patchesEnabled }: Circumstances,
): string[] {
  const { patches, path } = patchSource(daemonSet, mode);
  const list = Array.isArray(patches) ? patches.filter((item) => isMap(item) && isMap(item.patch)) : [];
  const isIdle = !patchesEnabled && list.length > 0;
  return [
    ...(isIdle ? [`${path}: ignored while the feature gate ${PATCHES_GATE} is off`] : []),
    ...portAdvice(daemonSet as DaemonSet, list as NodePatch[]),
    ...(mode === "companion" ? companionAdvice(daemonSet as DaemonSet, list as NodePatch[], path) : []),
  ];
}

/** Old and new pod of a node stand side by side, and only one of them gets a port of the node. */
function portAdvice({ spec }: DaemonSet, patches: readonly NodePatch[]): string[] {
  const surge = spec.updateStrategy?.rollingUpdate?.maxSurge;
  if (["undefined", "null", "0", "0%"].includes(String(surge))) return [];
  const templates = [spec.template, ...patches.map(({ patch }) => merged(spec.template, patch))];
  if (!templates.some(takesNodePorts)) return [];
  return [
    "spec.updateStrategy.rollingUpdate.maxSurge: with hostNetwork or hostPort the new pod cannot start beside the old one; use maxUnavailable",
  ];
}

/** Lists of a pod that admission adds to before a patch is applied. */
const INJECTED = ["containers", "initContainers", "volumes"];

/** Whole lists that a patch puts in the place of what OpenKruise and others have injected (DSP-368). */
export function replacedLists(patches: readonly NodePatch[], path: string): Violation[] {
  return patches.flatMap(({ patch }, index) =>
    INJECTED.filter((list) => mapsOf(mapOf(patch.spec)[list]).some(({ $patch }) => $patch === "replace")).map(
      (list) => ({
        path: `${path}[${index}].patch.spec.${list}`,
        message: "forbidden: what others have injected into the pod would be lost; change single items",
      }),
    ),
  );
}

function takesNodePorts({ spec }: PodTemplate): boolean {
  const containers = [...mapsOf(spec?.containers), ...mapsOf(spec?.initContainers)];
  return (
    spec?.hostNetwork === true ||
    containers.some(({ ports }) => mapsOf(ports).some(({ hostPort }) => Boolean(hostPort)))
  );
}

function merged(template: PodTemplate, patch: JsonMap): PodTemplate {
  try {
    return strategicMerge("PodTemplateSpec", template, patch);
  } catch {
    return template;
  }
}

/** OpenKruise works with the template as it is, and never sees a patch. */
function companionAdvice({ spec }: DaemonSet, patches: readonly NodePatch[], path: string): string[] {
  const isInPlace = spec.updateStrategy?.rollingUpdate?.rollingUpdateType === "InPlaceIfPossible";
  return patches.flatMap(({ patch }, index) => {
    const own = mapOf(patch.spec);
    const at = `${path}[${index}].patch.spec`;
    const images = [...mapsOf(own.containers), ...mapsOf(own.initContainers)].some(
      ({ image }) => image !== undefined,
    );
    return [
      ...(own.tolerations === undefined
        ? []
        : [
            `${at}.tolerations: OpenKruise chooses nodes by the template, so they bring no pod to a tainted node`,
          ]),
      ...(isInPlace && images
        ? [
            `${at}: an in-place update of OpenKruise sets the image of the template until the pod is made anew`,
          ]
        : []),
    ];
  });
}
