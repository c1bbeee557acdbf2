/** What an Ingress contributes to its tunnel (section 7.3). */
import type { DeepReadonly } from "@quartet/core";
import type { Service } from "@quartet/core/kinds";
import type { TunnelIngressClassConfig } from "../../api.gen.ts";
import type { Cached, Ingress, IngressBackend } from "../../kinds.ts";
import type { Source, SourceRule, Unknown } from "../document.ts";
import { normaliseHostname } from "../hostname.ts";
import type { OptionNotice } from "../origin-request.ts";
import { escapePath } from "../path-kind.ts";
import { trimEndOf } from "../trim.ts";
import { annotatedOptions } from "./annotations.ts";
import { optionsOf, overlay } from "./origin.ts";
import { protocolOf } from "./protocol.ts";
import { missingPort } from "./service-port.ts";

const PRIORITY = 100;
/** What serves a backend that cannot be reached. */
const UNAVAILABLE = "http_status:503";

export interface IngressInputs {
  readonly config: Cached<TunnelIngressClassConfig> | undefined;
  readonly service: (namespace: string, name: string) => Cached<Service> | undefined;
}

export interface Contribution {
  readonly source: Source;
  readonly notices: readonly OptionNotice[];
}

/** The source of an Ingress. */
export function ingressSource(ingress: Cached<Ingress>, inputs: IngressInputs): Contribution {
  const { metadata, spec } = ingress;
  const annotations = metadata.annotations ?? {};
  const { options, notices: told } = annotatedOptions(annotations);
  const notices: OptionNotice[] = [...told];
  const defaults = optionsOf(inputs.config?.spec.defaultOriginRequest as Unknown | undefined);
  const originRequest = overlay(defaults, options);
  const scope = { annotations, namespace: metadata.namespace ?? "", inputs, notices };
  const rules: SourceRule[] = [];
  const fallbacks: string[] = [];
  const add = (
    host: string,
    path: Pick<SourceRule, "path" | "pathKind" | "matchPath">,
    backend: DeepReadonly<IngressBackend>,
  ): void => {
    const service = serviceOf(backend, scope);
    const hostname = normaliseHostname(host);
    if (hostname.startsWith("*.")) notices.push(wildcardNotice(hostname));
    // A rule for everything is no rule but what the tunnel falls back to.
    if (hostname === "" && path.path === undefined) fallbacks.push(service);
    else
      rules.push({
        ...(hostname !== "" && { hostname }),
        service,
        ...path,
        ...(originRequest && { originRequest }),
        priority: PRIORITY,
      });
  };
  for (const { host = "", http } of spec.rules ?? []) {
    for (const { path = "", pathType, backend } of http?.paths ?? [])
      add(host, rulePath(path, pathType), backend);
  }
  if (spec.defaultBackend !== undefined)
    addDefault(ingress, rules, (host, backend) => add(host, {}, backend));
  const source: Source = {
    kind: "Ingress",
    namespace: scope.namespace,
    name: metadata.name ?? "",
    generation: metadata.generation ?? 0,
    priority: PRIORITY,
    ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
    ...(fallbacks[0] !== undefined && { settings: { fallbackTarget: fallbacks[0] } }),
    rules,
  };
  return { source, notices: distinct(notices) };
}

/** An Ingress means one label by a wildcard, cloudflared any number of them (TUN-479). */
function wildcardNotice(hostname: string): OptionNotice {
  const apex = hostname.slice(2);
  const message = `${hostname} serves every name below ${apex}, however many labels it has, and not ${apex} itself; rules for names below it come first`;
  return { reason: "WildcardDepth", message };
}

/** Names of the Services that an Ingress refers to. */
export function servicesOf({ spec }: Cached<Ingress>): string[] {
  const backends = [
    spec.defaultBackend,
    ...(spec.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ];
  return [...new Set(backends.flatMap((backend) => backend?.service?.name ?? []))];
}

/** Hosts of a source that get a DNS record: those that are served (TUN-468, TUN-473, TUN-652). */
export function hostsOf({ rules = [] }: Source): string[] {
  const served = rules.filter(({ denied }) => denied === undefined);
  return [...new Set(served.flatMap(({ hostname }) => (hostname === undefined ? [] : [hostname])))].sort();
}

/** A path of an Ingress as an expression (TUN-455). */
export function rulePath(
  path: string,
  pathType: string | undefined,
): Pick<SourceRule, "path" | "pathKind" | "matchPath"> {
  if (path === "") return {};
  if (pathType === "Exact") return { path: `^${escapePath(path)}$`, pathKind: "Exact", matchPath: path };
  const bare = trimEndOf(path, (character) => character === "/");
  return bare === "" ? {} : { path: `^${escapePath(bare)}(/.*)?$`, pathKind: "Prefix", matchPath: bare };
}

/** The default backend serves what the rules of each host leave over; without rules it is a fallback (TUN-469). */
function addDefault(
  { spec }: Cached<Ingress>,
  rules: readonly SourceRule[],
  add: (host: string, backend: DeepReadonly<IngressBackend>) => void,
): void {
  const backend = spec.defaultBackend;
  if (backend === undefined) return;
  const named = [
    ...(spec.rules ?? []).map(({ host = "" }) => host),
    ...(spec.tls ?? []).flatMap(({ hosts = [] }) => hosts),
  ];
  const hosts = [...new Set(named.map(normaliseHostname))].filter((host) => host !== "");
  const covered = new Set(rules.filter(({ path }) => path === undefined).map(({ hostname }) => hostname));
  for (const host of hosts) if (!covered.has(host)) add(host, backend);
  if (hosts.length === 0) add("", backend);
}

interface Scope {
  readonly annotations: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly inputs: IngressInputs;
  readonly notices: OptionNotice[];
}

function serviceOf({ service: wanted }: DeepReadonly<IngressBackend>, scope: Scope): string {
  const { namespace, inputs, notices, annotations } = scope;
  if (wanted === undefined) {
    notices.push({
      reason: "UnsupportedBackend",
      message: "a backend that is no Service is answered with 503",
    });
    return UNAVAILABLE;
  }
  const service = inputs.service(namespace, wanted.name);
  const ports = service?.spec.ports ?? [];
  const { number, name } = wanted.port ?? {};
  const servicePort =
    number !== undefined
      ? ports.find(({ port }) => port === number)
      : name !== undefined
        ? ports.find((port) => port.name === name)
        : ports[0];
  const port = number ?? servicePort?.port;
  if (port === undefined) {
    const message = `Service ${namespace}/${wanted.name} has no port ${name ?? "at all"}; it is answered with 503`;
    notices.push({ reason: "PortNotFound", message });
    return UNAVAILABLE;
  }
  if (service === undefined)
    notices.push({ reason: "ServiceNotFound", message: `there is no Service ${namespace}/${wanted.name}` });
  else notices.push(...missingPort(service, port));
  const serviceAnnotations = service?.metadata.annotations ?? {};
  const defaultProtocol = inputs.config?.spec.defaultProtocol;
  const protocol = protocolOf(
    { annotations, serviceAnnotations, port, servicePort, defaultProtocol },
    notices,
  );
  return protocol === "bastion" ? "bastion" : `${protocol}://${wanted.name}.${namespace}.svc:${port}`;
}

function distinct(notices: readonly OptionNotice[]): OptionNotice[] {
  return [...new Map(notices.map((notice) => [`${notice.reason} ${notice.message}`, notice])).values()];
}
