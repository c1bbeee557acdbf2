/** What is checked of a rule before anything is sent (section 8.4). */
import {
  compilePath,
  GoUrlError,
  IngressError,
  PathPatternError,
  parseGoUrl,
  validateIngress,
} from "@quartet/tunnel-ingress";
import { isMap, type SourceRule, type Unknown } from "./document.ts";
import { hostnameProblem, normaliseHostname } from "./hostname.ts";
import { cleanOriginRequest, type OptionNotice } from "./origin-request.ts";

const SCHEMES = new Set(["http", "https", "ws", "wss", "tcp", "ssh", "rdp", "smb", "udp"]);
const NO_ADDRESS = /^(hello_world|hello-world|helloworld|bastion|socks-proxy|unix:|unix\+tls:|http_status:)/;
const MAX_PORT = 65_535;

export interface CheckedRule {
  /** The rule as it is sent; nothing when it is refused. */
  readonly rule?: SourceRule & { readonly hostname: string };
  readonly problem?: string;
  /** What its owner should know though it is sent. */
  readonly notices: readonly OptionNotice[];
}

/** Checks a rule; what cannot be sent of its options is left out and told. */
export function checkRule(rule: SourceRule): CheckedRule {
  const hostname = normaliseHostname(rule.hostname ?? "");
  const path = rule.path ?? "";
  const { originRequest, notices: dropped } = cleanOriginRequest(rule.originRequest);
  const problem =
    hostnameProblem(hostname) ??
    (hostname === "" && path === "" ? "would match every hostname" : undefined) ??
    pathProblem(path) ??
    serviceProblem(rule.service, originRequest);
  if (problem !== undefined) return { problem, notices: dropped };
  const { originRequest: _, ...rest } = rule;
  const checked = { ...rest, hostname, ...(originRequest !== undefined && { originRequest }) };
  return { rule: checked, notices: [...dropped, ...serviceNotices(rule.service, originRequest)] };
}

function pathProblem(path: string): string | undefined {
  if (path === "") return undefined;
  try {
    compilePath(path);
    return undefined;
  } catch (error) {
    if (error instanceof PathPatternError) return `invalid regex: ${error.message}`;
    throw error;
  }
}

/** Why options of a whole tunnel cannot be sent, or nothing. */
export function originProblem(originRequest: Unknown): string | undefined {
  return refusalOf({ ingress: [{ service: "http_status:404" }], originRequest });
}

/** Why nothing can be served from there, or nothing. */
export function serviceProblem(service: string, originRequest?: Unknown): string | undefined {
  const rule = { service, ...(originRequest !== undefined && { originRequest }) };
  const refusal = refusalOf({ ingress: [{ hostname: "host", ...rule }, { service: "http_status:404" }] });
  if (refusal !== undefined) return refusal;
  if (/^unix(\+tls)?:$/.test(service)) return "the path of the socket is missing";
  if (NO_ADDRESS.test(service) || originRequest?.bastionMode === true) return undefined;
  return addressProblem(service);
}

function refusalOf(config: Parameters<typeof validateIngress>[0]): string | undefined {
  try {
    validateIngress(config);
    return undefined;
  } catch (error) {
    if (error instanceof IngressError) return error.message;
    throw error;
  }
}

function addressProblem(service: string): string | undefined {
  let url: ReturnType<typeof parseGoUrl>;
  try {
    url = parseGoUrl(service);
  } catch (error) {
    if (error instanceof GoUrlError) return error.message;
    throw error;
  }
  if (!SCHEMES.has(url.scheme)) return `unsupported scheme ${url.scheme}`;
  if (url.port !== "" && (Number(url.port) < 1 || Number(url.port) > MAX_PORT))
    return `port ${url.port} is out of range`;
  if (url.userInfo || url.query || url.fragment) return "an origin has no user, query or fragment";
  return undefined;
}

function serviceNotices(service: string, originRequest: Unknown | undefined): OptionNotice[] {
  const notices: OptionNotice[] = [];
  if (service.startsWith("udp:")) {
    notices.push({
      reason: "UnverifiedScheme",
      message: `${service}: udp is not in Cloudflare's list of origin schemes`,
    });
  }
  if (isMap(originRequest) && originRequest.http2Origin === true && service.startsWith("http:")) {
    notices.push({ reason: "Http2NeedsHttps", message: `${service}: http2Origin needs an https origin` });
  }
  return notices;
}
