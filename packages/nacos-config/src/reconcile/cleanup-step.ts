/** Removes generated configuration objects that nothing mounts any more. */
import { controllerOf, type DeepReadonly } from "@quartet/core";
import type { ConfigObject, Pod, StatefulSet } from "@quartet/core/kinds";
import { itemsOf, mapOf } from "@quartet/pod-template";
import { GENERATED_FOR_ANNOTATION, LEGACY_CONFIG_KEY } from "../desired/names.ts";
import { type MountedConfig, mountedConfig } from "../desired/volumes.ts";
import { type ConfigKind, configKind } from "../kinds.ts";
import { failureOf } from "./failure.ts";
import type { Pass } from "./pass.ts";
import { podsOf } from "./references.ts";
import { isRolledOut } from "./workload.ts";

/** Deletes what was generated for an earlier form of the resource, once no pod uses it. */
export async function cleanupStep(
  pass: Pass,
  wanted: MountedConfig,
  statefulSet: DeepReadonly<StatefulSet> | undefined,
): Promise<void> {
  const leftovers = generatedObjects(pass).filter(({ kind, object }) => !isMounted(wanted, kind, object));
  if (leftovers.length === 0) return;
  if (statefulSet !== undefined && !isRolledOut(statefulSet)) return;
  const pods = podsOf(pass, statefulSet);
  for (const { kind, object } of leftovers) {
    const { name = "" } = object.metadata;
    const used =
      (statefulSet !== undefined && isMounted(mountedConfig(statefulSet), kind, object)) ||
      pods.some((pod) => mounts(pod, kind, name));
    if (used) continue;
    const problem = await pass.children.remove(configKind(kind), object);
    if (problem !== undefined) pass.failures.push(failureOf(problem));
  }
}

interface Generated {
  readonly kind: ConfigKind;
  readonly object: DeepReadonly<ConfigObject>;
}

/** Configuration objects that were generated for the resource. */
function generatedObjects({ ctx, resource, settings }: Pass): Generated[] {
  const { uid = "" } = resource.metadata;
  return (["ConfigMap", "Secret"] as const).flatMap((kind) =>
    ctx.cache
      .source(configKind(kind))
      .list({ namespace: settings.namespace, labels: { app: settings.name } })
      .filter(
        (object) => controllerOf(object)?.uid === uid && object.metadata.deletionTimestamp === undefined,
      )
      .filter((object) => isGenerated(object, kind, settings.name))
      .map((object) => ({ kind, object })),
  );
}

function isGenerated(object: DeepReadonly<ConfigObject>, kind: ConfigKind, name: string): boolean {
  if (object.metadata.annotations?.[GENERATED_FOR_ANNOTATION] !== undefined) return true;
  return kind === "ConfigMap" && object.metadata.name === name && LEGACY_CONFIG_KEY in (object.data ?? {});
}

function isMounted(config: MountedConfig, kind: ConfigKind, object: DeepReadonly<ConfigObject>): boolean {
  if (config.mode === "none") return false;
  return (
    config.name === object.metadata.name && (config.mode === "merged" ? config.kind : "ConfigMap") === kind
  );
}

function mounts(pod: DeepReadonly<Pod>, kind: ConfigKind, name: string): boolean {
  return itemsOf(pod.spec?.volumes).some((volume) =>
    kind === "Secret" ? mapOf(volume.secret).secretName === name : mapOf(volume.configMap).name === name,
  );
}
