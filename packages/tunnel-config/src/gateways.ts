/** The controllers of the Gateway API. In a cluster without it they wait for its kinds (TUN-002). */
import {
  type Clock,
  type ControllerBuilder,
  type Kind,
  type KubeObject,
  keyOf,
  type Manager,
  type MapFn,
  primaryChanged,
  type ReconcileContext,
} from "@quartet/core";
import { CONFIG_MAP, NAMESPACE, SERVICE } from "@quartet/core/kinds";
import type { TunnelGatewayClassConfig } from "./api.gen.ts";
import { refOfConfig } from "./desired/targets.ts";
import { GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, REFERENCE_GRANT } from "./gateway-kinds.ts";
import {
  type Cached,
  CLUSTER_TUNNEL,
  DNS_RECORD,
  GATEWAY_CLASS_CONFIG,
  INGRESS_CLASS,
  INGRESS_CLASS_CONFIG,
  TUNNEL,
} from "./kinds.ts";
import { type ClassConfigOptions, createClassConfigReconcile } from "./reconcile/class-config.ts";
import { createGatewayReconcile } from "./reconcile/gateway.ts";
import { createGatewayClassReconcile } from "./reconcile/gateway-class.ts";
import { backendsOf, readGateways } from "./reconcile/gateway-world.ts";
import { createRouteReconcile } from "./reconcile/http-route.ts";
import type { World } from "./reconcile/world.ts";
import {
  type AddController,
  COUNT_DEBOUNCE,
  configsIn,
  everything,
  toldOf,
  tunnelMoved,
} from "./watching.ts";

interface GatewayOptions {
  readonly clock: Clock;
  readonly operatorNamespace: string;
  readonly add: AddController;
}

interface Debounce {
  readonly ms: number;
  readonly maxMs: number;
}

/** Adds what decides which routes a tunnel serves; a change queues what `all` names. */
export function watchGateways<P extends KubeObject>(
  builder: ControllerBuilder<P>,
  all: MapFn,
  options: { readonly debounce?: Debounce; readonly except?: Kind } = {},
): ControllerBuilder<P> {
  const { debounce, except } = options;
  const specs = { predicates: [primaryChanged], ...(debounce !== undefined && { debounce }) };
  const kinds = [GATEWAY_CLASS, GATEWAY, HTTP_ROUTE, REFERENCE_GRANT] as unknown as readonly Kind[];
  for (const kind of kinds)
    if (kind.kind !== except?.kind) builder.watches(kind, all, { ...specs, optional: true });
  if (except?.kind !== GATEWAY_CLASS_CONFIG.kind)
    builder.watches(GATEWAY_CLASS_CONFIG as unknown as Kind, all, specs);
  return builder.watches(NAMESPACE, all, { ...specs, projection: "metadata" });
}

/** Adds the controllers. */
export function addGateways(manager: Manager, options: GatewayOptions): void {
  const { add } = options;
  add(
    manager
      .controller("tunnel-gateway-classes")
      .for(GATEWAY_CLASS)
      .watches(GATEWAY_CLASS_CONFIG, everything(GATEWAY_CLASS), { predicates: [primaryChanged] }),
    createGatewayClassReconcile(options),
  );
  const gateways = everything(GATEWAY);
  const gateway = manager
    .controller("tunnel-gateways")
    .for(GATEWAY)
    .owns(DNS_RECORD, { predicates: [primaryChanged] })
    .watches(CONFIG_MAP, gateways, configsIn(options.operatorNamespace));
  watchWorld(watchGateways(gateway, gateways, { except: GATEWAY }), gateways);
  add(
    gateway.watches(SERVICE, () => []),
    createGatewayReconcile(options),
  );
  const routes = everything(HTTP_ROUTE);
  const route = manager
    .controller("tunnel-http-routes")
    .for(HTTP_ROUTE)
    .watches(SERVICE, routesOfService)
    .watches(CONFIG_MAP, () => [], { ...configsIn(options.operatorNamespace), onEvent: toldOf("HTTPRoute") });
  watchWorld(watchGateways(route, routes, { except: HTTP_ROUTE }), routes);
  add(route, createRouteReconcile(options));
  const configs = everything(GATEWAY_CLASS_CONFIG);
  const config = manager.controller("tunnel-gateway-class-configs").for(GATEWAY_CLASS_CONFIG);
  watchWorld(
    watchGateways(config, configs, { except: GATEWAY_CLASS_CONFIG, debounce: COUNT_DEBOUNCE }),
    configs,
  );
  add(
    config.watches(SERVICE, () => []),
    createClassConfigReconcile(configOptions(options)),
  );
}

function watchWorld<P extends KubeObject>(builder: ControllerBuilder<P>, all: MapFn): ControllerBuilder<P> {
  return builder
    .watches(TUNNEL, all, { predicates: [tunnelMoved] })
    .watches(CLUSTER_TUNNEL, all, { predicates: [tunnelMoved] })
    .watches(INGRESS_CLASS, () => [])
    .watches(INGRESS_CLASS_CONFIG, () => []);
}

/** Routes that a Service serves. */
const routesOfService: MapFn = async ({ metadata: { name, namespace } }, cache) =>
  (await cache.list(HTTP_ROUTE))
    .filter((route) => backendsOf(route).some((ref) => ref.name === name && ref.namespace === namespace))
    .map(keyOf);

/** Gateways of a class, and routes that they take. */
function configOptions(options: GatewayOptions): ClassConfigOptions<TunnelGatewayClassConfig> {
  const count = async (config: Cached<TunnelGatewayClassConfig>, world: World, ctx: ReconcileContext) => {
    const views = await readGateways(ctx.cache, world);
    const own = views.gateways.filter((gateway) => {
      const parameters = views.gatewayClass(gateway.spec.gatewayClassName)?.spec.parametersRef;
      return parameters?.name === config.metadata.name && parameters?.namespace === config.metadata.namespace;
    });
    const uids = new Set(own.map(({ metadata }) => metadata.uid));
    const routes = views.routes.filter((route) =>
      views
        .attachments(route)
        .some(({ gateway, refusal }) => refusal === undefined && uids.has(gateway.metadata.uid)),
    );
    return { gatewayCount: own.length, routeCount: routes.length };
  };
  return { ...options, kind: GATEWAY_CLASS_CONFIG, refOf: refOfConfig, count };
}
