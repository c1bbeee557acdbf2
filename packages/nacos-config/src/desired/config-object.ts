/** The generated ConfigMap or Secret: as it should be, and what an existing one needs. */
import { apiVersionOf, type ChildPlan, type DeepReadonly, sameJson } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { type ConfigKind, configKind } from "../kinds.ts";
import { type ReadyConfig, resolveConfig } from "./config.ts";
import { metadataOf, metadataOver } from "./family.ts";
import {
  CONFIG_DIGEST_ANNOTATION,
  FINAL_CONFIG_KEY,
  fixedLabels,
  GENERATED_FOR_ANNOTATION,
  LEGACY_CONFIG_KEY,
} from "./names.ts";
import type { NacosResource, Settings, SourceRef } from "./settings.ts";
import { type ConfigProblem, type FoundSource, isProblem } from "./source.ts";
import type { MountedConfig } from "./volumes.ts";

/** The configuration that a resource asks for. */
export interface WantedConfig {
  readonly mounted: MountedConfig;
  /** What the pods mount; absent when they mount nothing. */
  readonly object?: ConfigObject;
  /** What the object was merged from sources to; absent in the other modes. */
  readonly ready?: ReadyConfig;
}

/** What the pods are to mount, or why it cannot be provided. */
export function wantedConfig(
  { resource, name, config: plan, spec }: Settings,
  found: (ref: SourceRef) => FoundSource,
): WantedConfig | ConfigProblem {
  if (plan.mode === "none") return { mounted: { mode: "none" } };
  if (plan.mode === "legacy") {
    return { mounted: { mode: "legacy", name }, object: legacyConfigObject(resource, plan.text) };
  }
  const ready = resolveConfig(plan, spec, found);
  if (isProblem(ready)) return ready;
  const mounted = {
    mode: "merged",
    name: plan.finalName,
    kind: plan.finalKind,
    digest: ready.digest,
  } as const;
  return { mounted, object: finalConfigObject(resource, plan, ready), ready };
}

/** The object that holds the merged configuration. */
export function finalConfigObject(
  resource: NacosResource,
  target: { readonly finalKind: ConfigKind; readonly finalName: string },
  config: { readonly content: string; readonly digest: string },
): ConfigObject {
  const secret = target.finalKind === "Secret";
  const value = secret ? Buffer.from(config.content, "utf8").toString("base64") : config.content;
  return {
    apiVersion: apiVersionOf(configKind(target.finalKind)),
    kind: target.finalKind,
    metadata: metadataOf(resource, target.finalName, {
      [GENERATED_FOR_ANNOTATION]: resource.metadata.uid ?? "",
      [CONFIG_DIGEST_ANNOTATION]: config.digest,
    }),
    ...(secret ? { type: "Opaque" } : {}),
    data: { [FINAL_CONFIG_KEY]: value },
  };
}

/** The ConfigMap of the legacy mode, named like the resource. */
export function legacyConfigObject(resource: NacosResource, text: string): ConfigObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(resource, resource.metadata.name ?? ""),
    data: { [LEGACY_CONFIG_KEY]: text },
  };
}

/** What an existing object needs. */
export interface ConfigObjectUpdate {
  /** `replace`: immutable with other content, so it is deleted and created anew. */
  readonly action: "none" | "update" | "replace";
  readonly object: ConfigObject;
  readonly contentChanged: boolean;
  /** Somebody else edited it: the content that is wanted had been written before. */
  readonly drift: boolean;
}

/** Brings a live object to the desired one; everything in it that is not ours stays, except data. */
export function updatedConfigObject(
  desired: ConfigObject,
  live: DeepReadonly<ConfigObject>,
): ConfigObjectUpdate {
  const { binaryData: _binary, ...rest } = live as ConfigObject;
  const object: ConfigObject = {
    ...rest,
    metadata: metadataOver(live.metadata, desired.metadata),
    data: desired.data!,
  };
  const contentChanged =
    !sameJson(object.data, live.data ?? {}) || Object.keys(live.binaryData ?? {}).length > 0;
  const changed = contentChanged || !sameJson(object.metadata, live.metadata);
  const written = live.metadata.annotations?.[CONFIG_DIGEST_ANNOTATION];
  const labels = fixedLabels(desired.metadata.labels?.app ?? "");
  const unlabelled = Object.entries(labels).some(([key, value]) => live.metadata.labels?.[key] !== value);
  const sameSource =
    written !== undefined && written === desired.metadata.annotations?.[CONFIG_DIGEST_ANNOTATION];
  return {
    action: !changed ? "none" : contentChanged && live.immutable === true ? "replace" : "update",
    object,
    contentChanged,
    drift: sameSource && (contentChanged || unlabelled),
  };
}

/** How a configuration object comes about and is kept. */
export function configObjectPlan(desired: ConfigObject): ChildPlan<ConfigObject> {
  return {
    create: () => desired,
    update: (live) => updatedConfigObject(desired, live).object,
    replaces: (live) => updatedConfigObject(desired, live).action === "replace",
  };
}
