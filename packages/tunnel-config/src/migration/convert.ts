/** From TunnelBindings to Ingresses or HTTPRoutes (TUN-1017). */
import { GROUP, INGRESS_PREFIX, PREFIX } from "../constants.ts";
import { isMap } from "../desired/document.ts";
import { normaliseHostname } from "../desired/hostname.ts";
import { protocolOfNumber } from "../desired/sources/protocol.ts";
import { CFARGO_GROUP, SUBJECT_SPEC } from "./import.ts";
import { knownMembers, type Manifest, type Migrated, textOf, titleOf } from "./manifests.ts";
import { type PathMatch, pathMatch } from "./path-match.ts";

/** Hosts that Ingresses and HTTPRoutes take. */
const HOST = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** A Service behind a target, as the rules name it. */
const SERVICE = /^([a-z]+):\/\/([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?:(\d{1,5})$/;
const PROTOCOLS = new Set(["http", "https", "tcp", "udp", "ssh", "rdp", "smb"]);
const SCHEMES = new Set([...PROTOCOLS, "ws", "wss"]);
const MAX_HOST = 253;
/** Longest part of a name, so that a number fits behind it. */
const MAX_NAME = 245;
/** Options of a subject with the annotations of an Ingress, and the values that say nothing. */
const OPTIONS: readonly (readonly [option: string, annotation: string, silent: unknown])[] = [
  ["noTlsVerify", "no-tls-verify", false],
  ["http2Origin", "http2-origin", false],
  ["caPool", "ca-pool", ""],
  ["proxyAddress", "proxy-address", "127.0.0.1"],
  ["proxyPort", "proxy-port", 0],
  ["proxyType", "proxy-type", ""],
];

export type ConvertOptions =
  | { readonly to: "ingress"; readonly className: string; readonly domain: string }
  | {
      readonly to: "httproute";
      readonly gateway: { readonly namespace: string; readonly name: string };
      readonly domain: string;
    };

/**
 * What each TunnelBinding becomes: one object for each subject, as options are an object's. Services and tunnels among the
 * objects tell ports and domains; nothing is made of them.
 */
export function convertBindings(manifests: readonly Manifest[], options: ConvertOptions): Migrated[] {
  const nameOf = namesFor(manifests, options);
  return manifests.filter(isBinding).map((binding) => {
    const notes: string[] = [];
    const { body } = binding;
    const written = isMap(body.spec) ? body.spec : {};
    const subjects = body.subjects ?? written.subjects;
    const list: readonly unknown[] = Array.isArray(subjects) ? subjects : [];
    const ref = knownMembers(
      body.tunnelRef ?? written.tunnelRef,
      ["kind", "name", "disableDNSUpdates"],
      "tunnelRef",
      notes,
    );
    if (isMap(body.accessConfig) && body.accessConfig.enabled === true)
      return {
        from: titleOf(binding),
        objects: [],
        notes: [
          "left out: accessConfig asks for an Access application before its hosts; write an AccessApplication first",
        ],
      };
    const scope = { binding, manifests, options, ref, notes, nameOf, count: list.length };
    const objects = list.flatMap((subject, index) => subjectObject(subject, index, scope));
    const serves =
      options.to === "ingress"
        ? `IngressClass ${options.className}`
        : `the class of Gateway ${options.gateway.name}`;
    const then =
      objects.length === list.length
        ? "delete the TunnelBinding when these are applied"
        : "what is left out is served by the TunnelBinding alone: take the other subjects out of it when these are applied";
    if (objects.length > 0)
      notes.push(`to do: ${serves} must lead to ${textOf(ref.kind)} ${textOf(ref.name)}; ${then}`);
    return { from: titleOf(binding), objects, notes };
  });
}

interface Scope {
  readonly binding: Manifest;
  readonly manifests: readonly Manifest[];
  readonly options: ConvertOptions;
  readonly ref: Readonly<Record<string, unknown>>;
  readonly notes: string[];
  readonly nameOf: NameOf;
  readonly count: number;
}

/** Name of what a subject of a binding becomes. */
type NameOf = (binding: Manifest, index: number, count: number) => string;

interface Origin {
  readonly service: string;
  readonly port: number;
  readonly protocol: string;
}

function subjectObject(subject: unknown, index: number, scope: Scope): object[] {
  const { binding, options, ref, notes, nameOf, count } = scope;
  const { name, spec } = isMap(subject) ? subject : {};
  const where = `subjects[${index}]`;
  const own = knownMembers(spec, SUBJECT_SPEC, `${where}.spec`, notes);
  const leave = (reason: string): [] => {
    notes.push(`left out: ${where}: ${reason}`);
    return [];
  };
  const host = hostOf(textOf(name), textOf(own.fqdn), scope);
  if (host === undefined)
    return leave(
      "it has no fqdn, and the domain of its tunnel is not known: add the tunnel to the file, or --domain",
    );
  const kind = options.to === "ingress" ? "an Ingress" : "an HTTPRoute";
  if (host.length > MAX_HOST || !HOST.test(host))
    return leave(`host ${JSON.stringify(textOf(own.fqdn))} is none that ${kind} takes`);
  const origin = originOf(textOf(name), own, scope);
  if (typeof origin === "string") return leave(origin);
  const match = pathMatch(textOf(own.path), options.to === "httproute");
  if (match === undefined)
    return leave(
      `path ${JSON.stringify(own.path)} is none that ${kind} can have${options.to === "ingress" ? "; an HTTPRoute may (--to=httproute)" : ""}`,
    );
  if (match.note !== undefined) notes.push(`changed: ${where}.spec.path: ${match.note}`);
  const metadata = {
    name: nameOf(binding, index, count),
    ...(binding.namespace !== "" && { namespace: binding.namespace }),
  };
  const disabled = ref.disableDNSUpdates === true;
  if (options.to === "httproute")
    for (const [option] of setOptions(own))
      notes.push(
        `not carried over: ${where}.spec.${option}: an HTTPRoute has no options towards the origin; defaultOriginRequest of the TunnelGatewayClassConfig has`,
      );
  return [
    options.to === "ingress"
      ? ingressOf(metadata, options.className, host, match, origin, own, disabled)
      : routeOf(metadata, options.gateway, host, match, origin, disabled),
  ];
}

function isBinding({ apiVersion, kind }: Manifest): boolean {
  return kind === "TunnelBinding" && [GROUP, CFARGO_GROUP].includes(apiVersion.split("/")[0] ?? "");
}

/** The host of a subject, by the domain of its tunnel where it has none. */
function hostOf(name: string, fqdn: string, { binding, manifests, options, ref }: Scope): string | undefined {
  if (fqdn !== "") return normaliseHostname(fqdn);
  const tunnel = manifests.find(
    (one) =>
      one.kind.toLowerCase() === textOf(ref.kind).toLowerCase() &&
      one.name === ref.name &&
      (one.kind === "ClusterTunnel" || one.namespace === binding.namespace),
  );
  const spec = isMap(tunnel?.body.spec) ? tunnel.body.spec : {};
  const domain = options.domain || textOf(isMap(spec.cloudflare) ? spec.cloudflare.domain : undefined);
  return domain === "" ? undefined : normaliseHostname(`${name}.${domain}`);
}

/** The Service behind a subject, or why there is none. */
function originOf(name: string, spec: Readonly<Record<string, unknown>>, scope: Scope): Origin | string {
  const { binding, manifests } = scope;
  const asked = textOf(spec.protocol);
  const target = textOf(spec.target);
  if (target !== "") {
    const [, scheme = "", service = "", namespace, digits = ""] = SERVICE.exec(target) ?? [];
    if (!SCHEMES.has(scheme) || namespace !== binding.namespace)
      return `target ${JSON.stringify(target)} is no port of a Service in the namespace of the binding; a Service of type ExternalName may stand for it`;
    return { service, port: Number(digits), protocol: scheme };
  }
  const found = manifests.find(
    (one) =>
      one.apiVersion === "v1" &&
      one.kind === "Service" &&
      one.name === name &&
      one.namespace === binding.namespace,
  );
  const ports = isMap(found?.body.spec) ? found.body.spec.ports : undefined;
  const first: unknown = Array.isArray(ports) ? ports[0] : undefined;
  if (!isMap(first) || typeof first.port !== "number")
    return `the ports of Service ${name} are not known: add it to the file`;
  const usual = first.protocol === "UDP" ? "udp" : protocolOfNumber(first.port);
  return { service: name, port: first.port, protocol: PROTOCOLS.has(asked) ? asked : usual };
}

/** That of the binding, with a number where it has several subjects; none that another object of the file has or gets. */
function namesFor(manifests: readonly Manifest[], { to }: ConvertOptions): NameOf {
  const idOf = (namespace: string, name: string): string => `${namespace}/${name}`;
  const there = manifests.filter(({ kind }) => kind.toLowerCase() === to);
  const taken = new Set(there.map(({ namespace, name }) => idOf(namespace, name)));
  const reserved = new Set(manifests.filter(isBinding).map(({ namespace, name }) => idOf(namespace, name)));
  return ({ namespace, name }, index, count) => {
    const own = idOf(namespace, name);
    if (count === 1 && !taken.has(own)) {
      taken.add(own);
      return name;
    }
    for (let number = index; ; number += 1) {
      const made = `${name.slice(0, MAX_NAME)}-${number}`;
      const id = idOf(namespace, made);
      if (taken.has(id) || reserved.has(id)) continue;
      taken.add(id);
      return made;
    }
  };
}

/** Options that say something. */
function setOptions(spec: Readonly<Record<string, unknown>>): typeof OPTIONS {
  return OPTIONS.filter(([option, , silent]) => spec[option] !== undefined && spec[option] !== silent);
}

function ingressOf(
  metadata: object,
  className: string,
  host: string,
  { path, type }: PathMatch,
  { service, port, protocol }: Origin,
  options: Readonly<Record<string, unknown>>,
  disabled: boolean,
): object {
  const annotations = {
    [`${INGRESS_PREFIX}/protocol`]: protocol,
    ...Object.fromEntries(
      setOptions(options).map(([option, annotation]) => [
        `${INGRESS_PREFIX}/${annotation}`,
        String(options[option]),
      ]),
    ),
    ...(disabled && { [`${INGRESS_PREFIX}/disable-dns`]: "true" }),
  };
  const backend = { service: { name: service, port: { number: port } } };
  const pathType = type === "Exact" ? "Exact" : "Prefix";
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { ...metadata, annotations },
    spec: { ingressClassName: className, rules: [{ host, http: { paths: [{ path, pathType, backend }] } }] },
  };
}

function routeOf(
  metadata: object,
  gateway: { readonly namespace: string; readonly name: string },
  host: string,
  { path, type }: PathMatch,
  { service, port, protocol }: Origin,
  disabled: boolean,
): object {
  const annotations = {
    [`${PREFIX}/protocol`]: protocol,
    ...(disabled && { [`${PREFIX}/disable-dns`]: "true" }),
  };
  const { namespace, name } = gateway;
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { ...metadata, annotations },
    spec: {
      parentRefs: [{ ...(namespace !== "" && { namespace }), name }],
      hostnames: [host],
      rules: [{ matches: [{ path: { type, value: path } }], backendRefs: [{ name: service, port }] }],
    },
  };
}
