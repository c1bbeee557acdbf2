/** Which tunnel a Gateway is served by (TUN-520). */
import type { TunnelGatewayClassConfig } from "../../api.gen.ts";
import { GATEWAY_CONTROLLER, GROUP } from "../../constants.ts";
import type { Gateway, GatewayClass } from "../../gateway-kinds.ts";
import type { Cached } from "../../kinds.ts";
import { refOfConfig, type TunnelRef } from "../targets.ts";

const CONFIG_KIND = "TunnelGatewayClassConfig";

/** What is looked up on the way from a Gateway to its tunnel. */
export interface GatewayWorld {
  readonly gatewayClass: (name: string) => Cached<GatewayClass> | undefined;
  readonly gatewayConfig: (namespace: string, name: string) => Cached<TunnelGatewayClassConfig> | undefined;
}

/** Where a Gateway is served, or why it is not. */
export type GatewayTarget =
  | { readonly state: "foreign" }
  | { readonly state: "unknown"; readonly reason: string; readonly message: string }
  | {
      readonly state: "known";
      readonly ref: TunnelRef;
      readonly config: Cached<TunnelGatewayClassConfig>;
    };

/** Tunnel of a class, or why it has none. */
export function gatewayClassTarget(
  gatewayClass: Cached<GatewayClass> | undefined,
  world: GatewayWorld,
): GatewayTarget {
  if (gatewayClass === undefined || gatewayClass.spec.controllerName !== GATEWAY_CONTROLLER)
    return { state: "foreign" };
  const parameters = gatewayClass.spec.parametersRef;
  const wrong = (reason: string, message: string): GatewayTarget => ({ state: "unknown", reason, message });
  if (parameters === undefined)
    return wrong("InvalidParameters", `spec.parametersRef is missing; name a ${CONFIG_KIND} of ${GROUP}`);
  const { group, kind, namespace, name } = parameters;
  if (group !== GROUP || kind !== CONFIG_KIND)
    return wrong(
      "UnsupportedKind",
      `spec.parametersRef is a ${kind} of ${group}; a ${CONFIG_KIND} of ${GROUP} is needed`,
    );
  if (namespace === undefined || namespace === "")
    return wrong(
      "InvalidParameters",
      "spec.parametersRef.namespace is missing; name the namespace of the config",
    );
  const config = world.gatewayConfig(namespace, name);
  if (config === undefined)
    return wrong("ParametersNotFound", `there is no ${CONFIG_KIND} ${namespace}/${name}`);
  return { state: "known", ref: refOfConfig(config), config };
}

/** Tunnel of a Gateway; a class with `watchNamespaces` serves no other. */
export function gatewayTarget(gateway: Cached<Gateway>, world: GatewayWorld): GatewayTarget {
  const target = gatewayClassTarget(world.gatewayClass(gateway.spec.gatewayClassName), world);
  const namespaces = target.state === "known" ? (target.config.spec.watchNamespaces ?? []) : [];
  const outside = namespaces.length > 0 && !namespaces.includes(gateway.metadata.namespace ?? "");
  return outside ? { state: "foreign" } : target;
}
