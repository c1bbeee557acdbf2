/** A pod that OpenKruise creates, with the patches of its node (DSP-906 to 910). */
import type { Pod } from "@quartet/core/kinds";
import type { JsonMap } from "@quartet/strategic-merge";
import { canonicalJson } from "../desired/canonical.ts";
import { effectiveTemplate } from "../desired/effective-template.ts";
import { COMBINED_HASH } from "../desired/keys.ts";
import type { Toleration } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";
import { patchAnnotations } from "../desired/pod.ts";
import { withDefaultTolerations } from "../desired/tolerations.ts";
import { isMap, mapsOf } from "../json.ts";

/** Volumes with the token of the service account, which admission adds before any webhook is asked (upstream). */
const TOKEN_VOLUME = "kube-api-access-";
const CONTAINER_LISTS = ["containers", "initContainers"] as const;

/**
 * The pod with the patches applied; the same object when none match, or when they stand in it already.
 * @throws PatchError when they cannot be applied
 */
export function patchedPod(pod: Pod, match: PatchMatch, listHash: string): Pod {
  if (match.combinedHash === "" || pod.metadata.annotations?.[COMBINED_HASH] === match.combinedHash)
    return pod;
  const { labels, annotations, finalizers, ...identity } = pod.metadata;
  const before = (pod.spec ?? {}) as JsonMap;
  const own = {
    metadata: {
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
    },
    spec: before,
  };
  const { template } = effectiveTemplate(own as never, match);
  const { metadata = {}, spec = {} } = template;
  return {
    ...pod,
    metadata: {
      ...identity,
      ...metadata,
      annotations: { ...(metadata.annotations as object), ...patchAnnotations(match, listHash) },
    } as Pod["metadata"],
    spec: withoutPriority(before, withToken(before, withTolerations(spec))) as Pod["spec"] & object,
  };
}

function withTolerations(spec: JsonMap): JsonMap {
  const own = mapsOf(spec.tolerations) as Toleration[];
  return { ...spec, tolerations: [...withDefaultTolerations(own, spec.hostNetwork === true)] as never };
}

/** Volume and mounts of the token as they were before, where a patch took them away. */
function withToken(before: JsonMap, spec: JsonMap): JsonMap {
  const isToken = ({ name }: JsonMap): boolean => String(name).startsWith(TOKEN_VOLUME);
  const volumes = mapsOf(before.volumes).filter(isToken);
  if (volumes.length === 0) return spec;
  const lists = CONTAINER_LISTS.filter((list) => spec[list] !== undefined).map((list) => {
    const old = new Map(mapsOf(before[list]).map((container) => [container.name, container]));
    const containers = mapsOf(spec[list]).map((container) => {
      const mounts = mapsOf(old.get(container.name)?.volumeMounts).filter(isToken);
      return mounts.length === 0
        ? container
        : { ...container, volumeMounts: joined(container.volumeMounts, mounts, "mountPath") };
    });
    return [list, containers];
  });
  return { ...spec, ...Object.fromEntries(lists), volumes: joined(spec.volumes, volumes, "name") } as JsonMap;
}

/** The list with those items at its end that it lacks. */
function joined(list: unknown, items: readonly JsonMap[], key: string): JsonMap[] {
  const own = mapsOf(list);
  return [...own, ...items.filter((item) => !own.some((other) => other[key] === item[key]))];
}

/** Numbers that follow from the class, for the API server to compute anew. */
function withoutPriority(before: JsonMap, spec: JsonMap): JsonMap {
  if (before.priorityClassName === spec.priorityClassName) return spec;
  const { priority: _number, preemptionPolicy: _policy, ...rest } = spec;
  return rest;
}

/** Whether images of a pod are others than a template's, in containers that a patch gives an image (DSP-922). */
export function hasOtherImages(pod: Pod, template: JsonMap, patches: PatchMatch["patches"]): boolean {
  const patched = new Set(
    patches.flatMap(({ patch }) =>
      mapsOf(isMap(patch.spec) ? patch.spec.containers : undefined)
        .filter(({ image }) => image !== undefined)
        .map(({ name }) => name),
    ),
  );
  if (patched.size === 0) return false;
  const images = (spec: unknown): string =>
    canonicalJson(
      mapsOf(isMap(spec) ? spec.containers : undefined)
        .filter(({ name }) => patched.has(name))
        .map(({ name, image }) => [name, image]),
    );
  return pod.spec?.containers !== undefined && images(pod.spec) !== images(template);
}
