/** The spec with its defaults: what the rest of `desired/` works with. Nothing of it is ever written back. */
import type { DeepReadonly } from "@quartet/core";
import type { JsonMap } from "@quartet/core/kinds";
import { itemsOf, mapOf } from "@quartet/pod-template";
import type { Nacos } from "../api.gen.ts";
import type { ConfigKind } from "../kinds.ts";
import { type ImageVersion, imageVersion } from "./image.ts";
import { ADOPT_ANNOTATION, defaultFinalConfigName } from "./names.ts";

/** A resource as the cache hands it out. */
export type NacosResource = DeepReadonly<Nacos>;
export type NacosSpec = NonNullable<NacosResource["spec"]>;

/** Default type of the peer. */
export const DEFAULT_TYPE = "standalone";
/** Nodes of a cluster when the resource gives no number: the smallest that survives the loss of one. */
const DEFAULT_CLUSTER_REPLICAS = 3;
/** Keys of the two sources (as in the peer). */
const DEFAULT_INTERNAL_KEY = "internal.properties";
const DEFAULT_USER_KEY = "user.properties";
/** DNS domain of a cluster unless it was set up with another. */
const DEFAULT_CLUSTER_DOMAIN = "cluster.local";
/** Variable in `spec.env` that names the cluster's DNS domain (as in the peer). */
const DOMAIN_VARIABLE = "DOMAIN_NAME";

/** True when the resource asks to take over a StatefulSet and Services that carry none of its labels. */
export function isForcedAdoption({ metadata }: NacosResource): boolean {
  return metadata.annotations?.[ADOPT_ANNOTATION] === "true";
}

export type NacosType = "standalone" | "cluster";

/** Which properties a source holds, and the spec field that names it. */
export type SourceRole = "internal" | "user";

/** Reference to one key of a ConfigMap or Secret in the resource's namespace. */
export interface SourceRef {
  readonly role: SourceRole;
  /** Spec field, for messages. */
  readonly field: "internalConfigRef" | "userConfigRef";
  readonly kind: ConfigKind;
  readonly name: string;
  readonly key: string;
}

/** How the configuration is to be provided. */
export type ConfigPlan =
  | { readonly mode: "none" }
  | { readonly mode: "legacy"; readonly text: string }
  | {
      readonly mode: "merged";
      /** The internal source first, as far as it is set. */
      readonly sources: readonly SourceRef[];
      readonly finalName: string;
      readonly finalKind: ConfigKind;
    };

export interface Settings {
  readonly resource: NacosResource;
  readonly name: string;
  readonly namespace: string;
  readonly type: NacosType;
  /** Image of the Nacos container: the wrapper's, if it has one. */
  readonly image: string;
  readonly version: ImageVersion | undefined;
  readonly replicas: number;
  readonly clusterDomain: string;
  readonly config: ConfigPlan;
  readonly spec: NacosSpec;
}

/** The resource's settings with all defaults. An unknown type reads as the default: validation reports it. */
export function settingsOf(resource: NacosResource): Settings {
  const spec = resource.spec ?? {};
  const name = resource.metadata.name ?? "";
  const type = spec.type === "cluster" ? "cluster" : DEFAULT_TYPE;
  const image = nacosOverride(name, spec).image || spec.image || "";
  return {
    resource,
    name,
    namespace: resource.metadata.namespace ?? "",
    type,
    image,
    version: imageVersion(image),
    replicas: spec.replicas ?? (type === "cluster" ? DEFAULT_CLUSTER_REPLICAS : 1),
    clusterDomain:
      spec.env?.findLast(({ name: variable, value }) => variable === DOMAIN_VARIABLE && value)?.value ??
      DEFAULT_CLUSTER_DOMAIN,
    config: configPlan(name, spec),
    spec,
  };
}

/** The wrapper's pod spec, under either of its two names. */
export function wrapperOf({ k8sWrapper }: NacosSpec): JsonMap {
  return mapOf(k8sWrapper?.PodSpec ?? k8sWrapper?.podSpec);
}

/** What the wrapper says of the Nacos container. */
export function nacosOverride(name: string, spec: NacosSpec): JsonMap & { image?: string } {
  return itemsOf(wrapperOf(spec).containers).find((container) => container.name === name) ?? {};
}

function configPlan(name: string, spec: NacosSpec): ConfigPlan {
  const sources = [
    sourceRef("internal", "internalConfigRef", DEFAULT_INTERNAL_KEY, spec.internalConfigRef),
    sourceRef("user", "userConfigRef", DEFAULT_USER_KEY, spec.userConfigRef),
  ].filter((source) => source !== undefined);
  if (sources.length > 0) {
    const secret = sources.some((source) => source.kind === "Secret");
    return {
      mode: "merged",
      sources,
      finalName: spec.finalConfigName || defaultFinalConfigName(name),
      finalKind: spec.finalConfigKind ?? (secret ? "Secret" : "ConfigMap"),
    };
  }
  return spec.config ? { mode: "legacy", text: spec.config } : { mode: "none" };
}

function sourceRef(
  role: SourceRole,
  field: SourceRef["field"],
  defaultKey: string,
  ref: NacosSpec["userConfigRef"],
): SourceRef | undefined {
  if (!ref?.name) return undefined;
  return { role, field, kind: ref.kind ?? "ConfigMap", name: ref.name, key: ref.key || defaultKey };
}
