/** What an HTTPRoute contributes to a tunnel (TUN-523 to TUN-529). */
import type { DeepReadonly } from "@quartet/core";
import type { Service } from "@quartet/core/kinds";
import type { TunnelGatewayClassConfig } from "../../api.gen.ts";
import { INGRESS_PREFIX, PREFIX } from "../../constants.ts";
import type { BackendRef, HttpRoute, RouteFilter, RouteMatch, RouteRule } from "../../gateway-kinds.ts";
import type { Cached } from "../../kinds.ts";
import { DEFAULT_FALLBACK } from "../aggregate.ts";
import type { Source, SourceRule, Unknown } from "../document.ts";
import type { OptionNotice } from "../origin-request.ts";
import { type Contribution, rulePath } from "./ingress.ts";
import { optionsOf, overlay } from "./origin.ts";
import { protocolOf } from "./protocol.ts";
import { missingPort } from "./service-port.ts";

const PRIORITY = 100;
/** What serves a rule none of whose backends can be reached, as the Gateway API has it. */
const BROKEN = "http_status:500";

export interface RouteInputs {
  /** Hosts by the listeners that take the route; the empty one stands for all. */
  readonly hosts: readonly string[];
  readonly config: Cached<TunnelGatewayClassConfig> | undefined;
  readonly service: (namespace: string, name: string) => Cached<Service> | undefined;
  /** Whether the route may refer to a Service of another namespace. */
  readonly granted: (namespace: string, name: string) => boolean;
}

/** A reason and words for people. */
export interface Finding {
  readonly reason: string;
  readonly message: string;
}

export interface RouteContribution extends Contribution {
  /** What of the route cannot be served by a tunnel, and is left out. */
  readonly unsupported: readonly string[];
  /** Whether nothing is left of it. */
  readonly empty: boolean;
  /** Backends that cannot be used. */
  readonly unresolved: readonly Finding[];
}

/** The source of a route. */
export function routeSource(route: Cached<HttpRoute>, inputs: RouteInputs): RouteContribution {
  const { metadata, spec } = route;
  const notices: OptionNotice[] = [];
  const unsupported: string[] = [];
  const unresolved: Finding[] = [];
  const rules: SourceRule[] = [];
  const fallbacks: string[] = [];
  const defaults = optionsOf(inputs.config?.spec.defaultOriginRequest as Unknown | undefined);
  const scope: Scope = { route, inputs, notices, unsupported, unresolved };
  (spec.rules ?? []).forEach((rule, index) => {
    const where = `spec.rules[${index}]`;
    const header = hostHeader(rule.filters ?? [], where, unsupported);
    if (header === undefined) return;
    const paths = pathsOf(rule, where, unsupported);
    if (paths.length === 0) return;
    const service = backendOf(rule.backendRefs ?? [], where, scope);
    const originRequest = overlay(defaults, header === "" ? undefined : { httpHostHeader: header });
    for (const host of inputs.hosts) {
      for (const path of paths) {
        if (host === "" && path.path === undefined) fallbacks.push(service);
        else
          rules.push({
            ...(host !== "" && { hostname: host }),
            service,
            ...path,
            ...(originRequest && { originRequest }),
            priority: PRIORITY,
          });
      }
    }
  });
  const configured = inputs.config?.spec.fallbackTarget;
  const fallback = fallbacks[0] ?? (configured === DEFAULT_FALLBACK ? undefined : configured);
  const source: Source = {
    kind: "HTTPRoute",
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    generation: metadata.generation ?? 0,
    priority: PRIORITY,
    ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
    ...(fallback !== undefined && {
      settings: { fallbackTarget: fallback, ...(fallbacks.length === 0 && { fallbackOfClass: true }) },
    }),
    rules: firstOfEach(rules),
  };
  const empty = rules.length === 0 && fallbacks.length === 0 && unsupported.length > 0;
  return { source, notices, unsupported, empty, unresolved };
}

interface Scope {
  readonly route: Cached<HttpRoute>;
  readonly inputs: RouteInputs;
  readonly notices: OptionNotice[];
  readonly unsupported: string[];
  readonly unresolved: Finding[];
}

/** Of rules for one host and path the first is served, as the Gateway API has it. */
function firstOfEach(rules: readonly SourceRule[]): SourceRule[] {
  const first = new Map<string, SourceRule>();
  for (const rule of rules) {
    const key = `${rule.hostname ?? ""} ${rule.path ?? ""}`;
    if (!first.has(key)) first.set(key, rule);
  }
  return [...first.values()];
}

/** Host header that the filters set, empty for none; nothing when a filter cannot be expressed (TUN-526). */
function hostHeader(
  filters: readonly DeepReadonly<RouteFilter>[],
  where: string,
  unsupported: string[],
): string | undefined {
  let header = "";
  for (const [index, { type, urlRewrite, requestHeaderModifier: change }] of filters.entries()) {
    const set = change?.set ?? [];
    const [only] = set;
    const isHost = only?.name.toLowerCase() === "host" && set.length === 1;
    if (type === "URLRewrite" && urlRewrite?.hostname !== undefined && urlRewrite.path === undefined)
      header = urlRewrite.hostname;
    else if (type === "RequestHeaderModifier" && isHost && !change?.add?.length && !change?.remove?.length)
      header = only.value;
    else {
      unsupported.push(`${where}.filters[${index}]: ${type} cannot be done by a tunnel`);
      return undefined;
    }
  }
  return header;
}

/** Paths of a rule; what is matched beside the path cannot be expressed and is never widened (TUN-525). */
function pathsOf(
  { matches = [] }: DeepReadonly<RouteRule>,
  where: string,
  unsupported: string[],
): Pick<SourceRule, "path" | "pathKind" | "matchPath">[] {
  if (matches.length === 0) return [{}];
  return matches.flatMap((match, index) => {
    const extra = extraOf(match);
    if (extra === undefined) return [routePath(match)];
    unsupported.push(`${where}.matches[${index}]: a match by ${extra} cannot be done by a tunnel`);
    return [];
  });
}

function extraOf({ headers, queryParams, method }: DeepReadonly<RouteMatch>): string | undefined {
  if (headers?.length) return "headers";
  if (queryParams?.length) return "queryParams";
  return method === undefined ? undefined : "method";
}

function routePath({ path }: DeepReadonly<RouteMatch>): Pick<SourceRule, "path" | "pathKind" | "matchPath"> {
  const { type = "PathPrefix", value = "/" } = path ?? {};
  if (type === "RegularExpression") return { path: value, pathKind: "Regex" };
  return rulePath(value, type === "Exact" ? "Exact" : "Prefix");
}

/** The heaviest backend that can be used (TUN-527, TUN-528). */
function backendOf(refs: readonly DeepReadonly<BackendRef>[], where: string, scope: Scope): string {
  const weighted = refs.filter(({ weight = 1 }) => weight > 0);
  if (weighted.length > 1)
    scope.unsupported.push(
      `${where}.backendRefs: traffic splitting unsupported; the heaviest backend gets all of it`,
    );
  let best: { readonly service: string; readonly weight: number } | undefined;
  for (const [index, ref] of weighted.entries()) {
    const service = resolve(ref, `${where}.backendRefs[${index}]`, scope);
    const { weight = 1 } = ref;
    if (service !== undefined && weight > (best?.weight ?? 0)) best = { service, weight };
  }
  return best?.service ?? BROKEN;
}

function resolve(ref: DeepReadonly<BackendRef>, where: string, scope: Scope): string | undefined {
  const { route, inputs, unresolved, unsupported } = scope;
  const own = route.metadata.namespace ?? "";
  const { group = "", kind = "Service", namespace = own, name, port } = ref;
  const fail = (reason: string, message: string): undefined => {
    unresolved.push({ reason, message: `${where}: ${message}` });
  };
  if (group !== "" || kind !== "Service")
    return fail("InvalidKind", `a ${kind} cannot be reached; name a Service`);
  if (namespace !== own && !inputs.granted(namespace, name))
    return fail(
      "RefNotPermitted",
      `no ReferenceGrant of ${namespace} lets this route refer to Service ${name}`,
    );
  const service = inputs.service(namespace, name);
  if (service === undefined) return fail("BackendNotFound", `there is no Service ${namespace}/${name}`);
  if (port === undefined) return fail("BackendNotFound", "port is missing");
  if (ref.filters?.length) {
    unsupported.push(`${where}.filters: filters of a backend cannot be done by a tunnel`);
    return undefined;
  }
  scope.notices.push(...missingPort(service, port));
  const servicePort = (service.spec.ports ?? []).find((one) => one.port === port);
  const asked = route.metadata.annotations?.[`${PREFIX}/protocol`];
  const protocol = protocolOf(
    {
      annotations: asked === undefined ? {} : { [`${INGRESS_PREFIX}/protocol`]: asked },
      serviceAnnotations: service.metadata.annotations ?? {},
      port,
      servicePort,
      defaultProtocol: undefined,
    },
    scope.notices,
  );
  return protocol === "bastion" ? "bastion" : `${protocol}://${name}.${namespace}.svc:${port}`;
}
