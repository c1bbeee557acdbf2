/** Which tunnel an object is for. */

import type { TunnelGatewayClassConfig, TunnelIngressClassConfig } from "../api.gen.ts";
import {
  DEFAULT_CLASS_ANNOTATION,
  GROUP,
  INGRESS_CONTROLLER,
  LEGACY_CLASS_ANNOTATION,
} from "../constants.ts";
import type { AnyTunnel, Cached, Ingress, IngressClass } from "../kinds.ts";

export interface TunnelRef {
  readonly kind: "Tunnel" | "ClusterTunnel";
  /** Empty for a ClusterTunnel. */
  readonly namespace: string;
  readonly name: string;
}

/** Where an object is served, or why it is not. */
export type Target =
  | { readonly state: "foreign" }
  /** Ours, but what it refers to is missing or wrong: what is stored of it stays. */
  | { readonly state: "unknown"; readonly reason: string; readonly message: string }
  | { readonly state: "known"; readonly ref: TunnelRef; readonly config?: Cached<TunnelIngressClassConfig> };

/** What is looked up on the way from an Ingress to its tunnel. */
export interface ClassWorld {
  readonly ingressClass: (name: string) => Cached<IngressClass> | undefined;
  /** Names of all classes that are ours and the default of the cluster. */
  readonly defaultClasses: readonly string[];
  readonly classConfig: (namespace: string, name: string) => Cached<TunnelIngressClassConfig> | undefined;
  /** Names of all ClusterTunnels. */
  readonly clusterTunnels: readonly string[];
  readonly operatorNamespace: string;
}

/** Name of the class of an Ingress, the default one included (TUN-450). */
export function classNameOf(
  ingress: Cached<Ingress>,
  world: Pick<ClassWorld, "defaultClasses">,
): string | undefined {
  const { spec, metadata } = ingress;
  return spec.ingressClassName ?? metadata.annotations?.[LEGACY_CLASS_ANNOTATION] ?? world.defaultClasses[0];
}

/** Whether the class is one that this controller serves. */
export function isOurClass(ingressClass: Cached<IngressClass> | undefined): boolean {
  return ingressClass?.spec?.controller === INGRESS_CONTROLLER;
}

/** Whether it is the default one as well. */
export function isOurDefaultClass(ingressClass: Cached<IngressClass>): boolean {
  return isOurClass(ingressClass) && ingressClass.metadata.annotations?.[DEFAULT_CLASS_ANNOTATION] === "true";
}

/** Where an Ingress is served. */
export function ingressTarget(ingress: Cached<Ingress>, world: ClassWorld): Target {
  const className = classNameOf(ingress, world);
  const ingressClass = className === undefined ? undefined : world.ingressClass(className);
  if (className === undefined || ingressClass === undefined || !isOurClass(ingressClass))
    return { state: "foreign" };
  const target = classTarget(ingressClass, world);
  const namespaces = target.state === "known" ? (target.config?.spec.watchNamespaces ?? []) : [];
  const outside = namespaces.length > 0 && !namespaces.includes(ingress.metadata.namespace ?? "");
  return outside ? { state: "foreign" } : target;
}

/** Which tunnel a class is served by (TUN-451, TUN-452). */
export function classTarget(ingressClass: Cached<IngressClass>, world: ClassWorld): Target {
  const name = ingressClass.metadata.name ?? "";
  const wrong = (message: string): Target => ({
    state: "unknown",
    reason: "ConfigError",
    message: `IngressClass ${name}: ${message}`,
  });
  const parameters = ingressClass.spec?.parameters;
  if (parameters === undefined) {
    const [only, ...others] = world.clusterTunnels;
    if (only !== undefined && others.length === 0)
      return { state: "known", ref: { kind: "ClusterTunnel", namespace: "", name: only } };
    return wrong(
      `it has no parameters and the cluster has ${world.clusterTunnels.length} ClusterTunnels instead of one; ` +
        "set spec.parameters to a TunnelIngressClassConfig",
    );
  }
  if (parameters.apiGroup !== GROUP || parameters.kind !== "TunnelIngressClassConfig") {
    return wrong(
      `its parameters are a ${parameters.kind} of ${parameters.apiGroup ?? "core"}; a TunnelIngressClassConfig of ${GROUP} is needed`,
    );
  }
  const namespace = parameters.namespace ?? world.operatorNamespace;
  const config = world.classConfig(namespace, parameters.name);
  if (config === undefined)
    return wrong(`there is no TunnelIngressClassConfig ${namespace}/${parameters.name}`);
  return { state: "known", ref: refOfConfig(config), config };
}

/** The tunnel of a class config. */
export function refOfConfig({
  spec,
  metadata,
}: Cached<TunnelIngressClassConfig | TunnelGatewayClassConfig>): TunnelRef {
  const { kind = "ClusterTunnel", name, namespace } = spec.tunnelRef;
  return { kind, name, namespace: kind === "Tunnel" ? (namespace ?? metadata.namespace ?? "") : "" };
}

/** One text for a tunnel. */
export function refText({ kind, namespace, name }: TunnelRef): string {
  return namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** The reference to a tunnel. */
export function refOf({ kind, metadata }: Cached<AnyTunnel>): TunnelRef {
  return { kind: kind as TunnelRef["kind"], namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}
