/** Protocol of an origin (TUN-460 to TUN-463). */
import type { DeepReadonly } from "@quartet/core";
import type { ServicePort } from "@quartet/core/kinds";
import { INGRESS_PREFIX } from "../../constants.ts";
import type { OptionNotice } from "../origin-request.ts";
import { invalid } from "./annotations.ts";

/** Protocols that annotations and class configs may name. */
export const PROTOCOLS: ReadonlySet<string> = new Set([
  "http",
  "https",
  "tcp",
  "udp",
  "ssh",
  "rdp",
  "smb",
  "bastion",
  "wss",
  "ws",
]);

const BY_APP_PROTOCOL: Readonly<Record<string, string>> = {
  http: "http",
  https: "https",
  tcp: "tcp",
  udp: "udp",
  grpc: "http",
  h2c: "http",
  "kubernetes.io/h2c": "http",
  ws: "ws",
  "kubernetes.io/ws": "ws",
  wss: "wss",
  "kubernetes.io/wss": "wss",
};

const BY_PORT_NAME: Readonly<Record<string, string>> = {
  http: "http",
  "http-web": "http",
  "http-api": "http",
  web: "http",
  https: "https",
  "https-web": "https",
  "https-api": "https",
  secure: "https",
  grpc: "http",
  "grpc-web": "http",
  h2c: "http",
  http2: "http",
  ws: "ws",
  websocket: "ws",
  wss: "wss",
  "websocket-secure": "wss",
  ssh: "ssh",
  rdp: "rdp",
  smb: "smb",
  tcp: "tcp",
  udp: "udp",
};

const BY_NUMBER: Readonly<Record<number, string>> = {
  443: "https",
  22: "ssh",
  3389: "rdp",
  139: "smb",
  445: "smb",
};

/** Protocol of a port number that nothing tells more about. */
export function protocolOfNumber(port: number): string {
  return BY_NUMBER[port] ?? "http";
}

export interface ProtocolHints {
  readonly annotations: Readonly<Record<string, string>>;
  readonly serviceAnnotations: Readonly<Record<string, string>>;
  readonly port: number;
  readonly servicePort: DeepReadonly<ServicePort> | undefined;
  readonly defaultProtocol: string | undefined;
}

/** The first level that tells a protocol decides; malformed annotations are told and passed over. */
export function protocolOf(hints: ProtocolHints, notices: OptionNotice[]): string {
  const { annotations, serviceAnnotations, port, servicePort, defaultProtocol } = hints;
  const named = (of: Readonly<Record<string, string>>, name: string): string | undefined => {
    const text = of[`${INGRESS_PREFIX}/${name}`];
    if (text === undefined || PROTOCOLS.has(text)) return text;
    notices.push(invalid(name, text));
    return undefined;
  };
  const app = servicePort?.appProtocol;
  return (
    named(annotations, "protocol") ??
    named(annotations, `protocol-${port}`) ??
    named(serviceAnnotations, "protocol") ??
    own(BY_APP_PROTOCOL, typeof app === "string" ? app.toLowerCase() : "") ??
    own(BY_PORT_NAME, servicePort?.name ?? "") ??
    defaultProtocol ??
    protocolOfNumber(port)
  );
}

function own(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
