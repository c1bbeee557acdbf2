/** The kinds of the Gateway API, as far as a tunnel looks at them. A cluster may be without them. */
import { defineKind, type Kind, type KubeObject } from "@quartet/core";

export const GATEWAY_GROUP = "gateway.networking.k8s.io";

/** Reference from a route to what it is attached to. */
export interface ParentRef {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}

export interface GatewayClass extends KubeObject {
  spec: {
    controllerName: string;
    parametersRef?: { group: string; kind: string; name: string; namespace?: string };
  };
  status?: { conditions?: unknown };
}

export interface Listener {
  name: string;
  hostname?: string;
  port: number;
  protocol: string;
  allowedRoutes?: {
    namespaces?: { from?: string; selector?: LabelSelector };
    kinds?: { group?: string; kind: string }[];
  };
}

/** Labels that a namespace must have. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface Gateway extends KubeObject {
  spec: { gatewayClassName: string; listeners: Listener[] };
  status?: {
    addresses?: { type?: string; value: string }[];
    conditions?: unknown;
    listeners?: unknown;
  };
}

export interface BackendRef {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  port?: number;
  weight?: number;
  filters?: RouteFilter[];
}

export interface RouteFilter {
  type: string;
  requestHeaderModifier?: {
    set?: { name: string; value: string }[];
    add?: { name: string; value: string }[];
    remove?: string[];
  };
  urlRewrite?: { hostname?: string; path?: object };
}

export interface RouteMatch {
  path?: { type?: string; value?: string };
  headers?: object[];
  queryParams?: object[];
  method?: string;
}

export interface RouteRule {
  matches?: RouteMatch[];
  filters?: RouteFilter[];
  backendRefs?: BackendRef[];
}

export interface HttpRoute extends KubeObject {
  spec: { parentRefs?: ParentRef[]; hostnames?: string[]; rules?: RouteRule[] };
  status?: { parents?: RouteParentStatus[] };
}

export interface RouteParentStatus {
  parentRef: ParentRef;
  controllerName: string;
  conditions?: unknown;
}

export interface ReferenceGrant extends KubeObject {
  spec: {
    from: { group: string; kind: string; namespace: string }[];
    to: { group: string; kind: string; name?: string }[];
  };
}

function gatewayKind<T extends KubeObject>(
  kind: string,
  plural: string,
  namespaced: boolean,
  version = "v1",
): Kind<T> {
  return defineKind<T>({ group: GATEWAY_GROUP, version, kind, plural, namespaced });
}

export const GATEWAY_CLASS: Kind<GatewayClass> = gatewayKind("GatewayClass", "gatewayclasses", false);
export const GATEWAY: Kind<Gateway> = gatewayKind("Gateway", "gateways", true);
export const HTTP_ROUTE: Kind<HttpRoute> = gatewayKind("HTTPRoute", "httproutes", true);
export const REFERENCE_GRANT: Kind<ReferenceGrant> = gatewayKind(
  "ReferenceGrant",
  "referencegrants",
  true,
  "v1beta1",
);
