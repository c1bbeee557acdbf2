/** Data volume and configuration volume of the pods. */
import type { DeepReadonly } from "@quartet/core";
import type { ClaimTemplate, JsonMap, StatefulSet, Volume, VolumeMount } from "@quartet/core/kinds";
import { itemsOf, mapOf } from "@quartet/pod-template";
import type { ConfigKind } from "../kinds.ts";
import {
  CONFIG_DIGEST_ANNOTATION,
  CONFIG_VOLUME,
  DATA_PATH,
  DATA_VOLUME,
  FINAL_CONFIG_KEY,
  FINAL_CONFIG_PATH,
  LEGACY_CONFIG_KEY,
  LEGACY_CONFIG_PATH,
} from "./names.ts";
import type { NacosSpec } from "./settings.ts";

/** Access mode of a claim template that gives none (as in the peer). */
const DEFAULT_ACCESS_MODE = "ReadWriteOnce";

/** A volume of the pod or a claim template, and where it is mounted. */
export interface PodVolume {
  readonly volume?: Volume;
  readonly claim?: ClaimTemplate;
  readonly mount: VolumeMount;
}

/** The configuration that the pods mount. */
export type MountedConfig =
  | { readonly mode: "none" }
  | { readonly mode: "legacy"; readonly name: string }
  | {
      readonly mode: "merged";
      readonly name: string;
      readonly kind: ConfigKind;
      /** Digest of the content; the pod template carries it. */
      readonly digest: string;
    };

/** Kinds of data volume, the one that counts first; `enabled` is the older form of a claim. */
const DATA_VOLUME_KINDS = ["hostPath", "emptyDir", "volumeClaimTemplate", "enabled"] as const;

/** The kinds of data volume that are set, the one that counts first. */
export function dataVolumeKinds({ volume = {} }: NacosSpec): (typeof DATA_VOLUME_KINDS)[number][] {
  return DATA_VOLUME_KINDS.filter((kind) => {
    const value = volume[kind];
    return value !== undefined && value !== null && value !== false;
  });
}

/** The data volume; `undefined` when the resource asks for none. */
export function dataVolume(spec: NacosSpec): PodVolume | undefined {
  const { volume = {} } = spec;
  const [kind] = dataVolumeKinds(spec);
  if (kind === undefined) return undefined;
  if (kind === "hostPath" || kind === "emptyDir") {
    const mount = { name: DATA_VOLUME, mountPath: DATA_PATH };
    return { volume: { name: DATA_VOLUME, [kind]: volume[kind] }, mount };
  }
  const template = kind === "enabled" ? upstreamClaim(volume) : mapOf(volume.volumeClaimTemplate);
  const claim = claimTemplate(template, volume.persistentVolumeSize);
  return { claim, mount: { name: claim.metadata.name!, mountPath: DATA_PATH } };
}

/** The claim template of the data volume, for a StatefulSet's list of them. */
export function claimTemplates(spec: NacosSpec): ClaimTemplate[] {
  const claim = dataVolume(spec)?.claim;
  return claim === undefined ? [] : [claim];
}

function claimTemplate(template: JsonMap, size: string | undefined): ClaimTemplate {
  const spec = mapOf(template.spec);
  const resources = mapOf(spec.resources);
  const requests = { ...mapOf(resources.requests), ...(size ? { storage: size } : {}) };
  const accessModes = spec.accessModes;
  const metadata: JsonMap = mapOf(template.metadata);
  return {
    metadata: { ...metadata, name: metadata.name ? String(metadata.name) : DATA_VOLUME },
    spec: {
      ...spec,
      accessModes: Array.isArray(accessModes) && accessModes.length > 0 ? accessModes : [DEFAULT_ACCESS_MODE],
      ...(Object.keys(requests).length > 0 ? { resources: { ...resources, requests } } : {}),
    },
  };
}

/** The older form of the same wish. */
function upstreamClaim(volume: NonNullable<NacosSpec["volume"]>): JsonMap {
  const { requests, storageClass } = volume;
  return {
    spec: {
      ...(requests === undefined ? {} : { resources: { requests } }),
      ...(storageClass ? { storageClassName: storageClass } : {}),
    },
  };
}

/** The configuration that the pods of a live StatefulSet mount. */
export function mountedConfig(live: DeepReadonly<StatefulSet>): MountedConfig {
  const { metadata, spec } = live.spec.template;
  const digest = metadata?.annotations?.[CONFIG_DIGEST_ANNOTATION];
  const volume = itemsOf(spec.volumes).find(({ name }) => name === CONFIG_VOLUME) ?? {};
  const configMap = mapOf(volume.configMap);
  const secret = mapOf(volume.secret);
  if (digest !== undefined) {
    return typeof secret.secretName === "string"
      ? { mode: "merged", name: secret.secretName, kind: "Secret", digest }
      : { mode: "merged", name: String(configMap.name ?? ""), kind: "ConfigMap", digest };
  }
  const legacy = itemsOf(configMap.items).some(({ key }) => key === LEGACY_CONFIG_KEY);
  return legacy ? { mode: "legacy", name: String(configMap.name) } : { mode: "none" };
}

/** The configuration volume; `undefined` when there is no configuration to mount. */
export function configVolume(config: MountedConfig): PodVolume | undefined {
  if (config.mode === "none") return undefined;
  const merged = config.mode === "merged";
  const file = merged ? FINAL_CONFIG_KEY : LEGACY_CONFIG_KEY;
  const items = [{ key: file, path: file }];
  const source =
    merged && config.kind === "Secret"
      ? { secret: { secretName: config.name, items } }
      : { configMap: { name: config.name, items } };
  return {
    volume: { name: CONFIG_VOLUME, ...source },
    mount: {
      name: CONFIG_VOLUME,
      mountPath: merged ? FINAL_CONFIG_PATH : LEGACY_CONFIG_PATH,
      subPath: file,
    },
  };
}
