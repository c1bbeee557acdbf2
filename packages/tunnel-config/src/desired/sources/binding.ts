/** What a TunnelBinding contributes to its tunnel (section 7.2). */
import type { Service } from "@quartet/core/kinds";
import type { Cached, TunnelBinding } from "../../kinds.ts";
import type { Source, SourceRule, Unknown } from "../document.ts";
import { normaliseHostname } from "../hostname.ts";
import type { OptionNotice } from "../origin-request.ts";
import type { TunnelRef } from "../targets.ts";
import type { Contribution } from "./ingress.ts";
import { CA_DIRECTORY } from "./origin.ts";
import { protocolOfNumber } from "./protocol.ts";

const PRIORITY = 50;
const MISSING = "http_status:404";
const PROXY_ADDRESS = "127.0.0.1";
const PROTOCOLS = new Set(["http", "https", "tcp", "udp", "ssh", "rdp", "smb"]);

type Subject = NonNullable<Cached<TunnelBinding>["subjects"]>[number];

export interface BindingInputs {
  /** What hostnames without one end in. */
  readonly domain: string | undefined;
  readonly service: (namespace: string, name: string) => Cached<Service> | undefined;
}

export interface BoundService {
  readonly hostname: string;
  readonly target: string;
}

export interface BindingContribution extends Contribution {
  /** Host and target of every subject, in their order. */
  readonly services: readonly BoundService[];
}

/** Subjects, wherever they are written (D19). */
export function subjectsOf(binding: Cached<TunnelBinding>): readonly Subject[] {
  return binding.subjects ?? (binding.spec?.subjects as readonly Subject[] | undefined) ?? [];
}

/** The tunnel of a binding, or nothing when it names none. */
export function bindingRef(binding: Cached<TunnelBinding>): TunnelRef | undefined {
  const ref = binding.tunnelRef ?? binding.spec?.tunnelRef;
  if (ref === undefined) return undefined;
  const namespace = ref.kind === "Tunnel" ? (binding.metadata.namespace ?? "") : "";
  return { kind: ref.kind, namespace, name: ref.name };
}

/** Whether DNS is left alone. */
export function leavesDns(binding: Cached<TunnelBinding>): boolean {
  return (binding.tunnelRef ?? binding.spec?.tunnelRef)?.disableDNSUpdates === true;
}

/** The source of a binding. */
export function bindingSource(binding: Cached<TunnelBinding>, inputs: BindingInputs): BindingContribution {
  const { metadata } = binding;
  const namespace = metadata.namespace ?? "";
  const notices: OptionNotice[] = [];
  const rules: SourceRule[] = [];
  const services: BoundService[] = [];
  for (const subject of subjectsOf(binding)) {
    const fqdn = subject.spec?.fqdn || (inputs.domain ? `${subject.name}.${inputs.domain}` : "");
    const hostname = normaliseHostname(fqdn);
    if (fqdn === "") {
      notices.push({ reason: "ErrBuildConfig", message: `subject ${subject.name}: no fqdn and no domain` });
      continue;
    }
    const service = targetOf(subject, namespace, inputs, notices);
    services.push({ hostname, target: service });
    const originRequest = optionsOfSubject(subject);
    const path = subject.spec?.path ?? "";
    rules.push({
      hostname,
      service,
      ...(path !== "" && { path, pathKind: "Regex" as const }),
      ...(originRequest !== undefined && { originRequest }),
      priority: PRIORITY,
    });
  }
  const source: Source = {
    kind: "TunnelBinding",
    namespace,
    name: metadata.name ?? "",
    generation: metadata.generation ?? 0,
    priority: PRIORITY,
    ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
    rules,
  };
  return { source, notices, services };
}

function targetOf(
  subject: Subject,
  namespace: string,
  inputs: BindingInputs,
  notices: OptionNotice[],
): string {
  const { target, protocol = "" } = subject.spec ?? {};
  if (target !== undefined && target !== "") return target;
  const port = inputs.service(namespace, subject.name)?.spec.ports?.[0];
  if (port === undefined) {
    const message = `Service ${namespace}/${subject.name} is missing or has no ports; it is answered with 404`;
    notices.push({ reason: "FailedService", message });
    return MISSING;
  }
  if (protocol !== "" && !PROTOCOLS.has(protocol)) {
    notices.push({
      reason: "ErrBuildConfig",
      message: `subject ${subject.name}: protocol ${protocol} is unknown and ignored`,
    });
  }
  const usual = port.protocol === "UDP" ? "udp" : protocolOfNumber(port.port);
  return `${PROTOCOLS.has(protocol) ? protocol : usual}://${subject.name}.${namespace}.svc:${port.port}`;
}

function optionsOfSubject({ spec = {} }: Subject): Unknown | undefined {
  const options = {
    ...(spec.noTlsVerify === true && { noTLSVerify: true }),
    ...(spec.http2Origin === true && { http2Origin: true }),
    ...(spec.proxyAddress && spec.proxyAddress !== PROXY_ADDRESS && { proxyAddress: spec.proxyAddress }),
    ...(spec.proxyPort && { proxyPort: spec.proxyPort }),
    ...(spec.proxyType && { proxyType: spec.proxyType }),
    ...(spec.caPool && { caPool: `${CA_DIRECTORY}/${spec.caPool}` }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}
