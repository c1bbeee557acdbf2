/** Options of an Ingress by annotations (TUN-465 to TUN-467). */
import { parseGoDuration } from "@quartet/tunnel-ingress";
import { INGRESS_PREFIX } from "../../constants.ts";
import type { Unknown } from "../document.ts";
import { type OptionNotice, secondsOf } from "../origin-request.ts";
import { CA_DIRECTORY } from "./origin.ts";

type Annotations = Readonly<Record<string, string>>;
type Parse = (text: string) => unknown;

/** Spellings that Go's `strconv.ParseBool` knows. */
const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** A flag, or nothing when the text is none. */
export function parseFlag(text: string): boolean | undefined {
  return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
}

const whole =
  (least: number, most: number): Parse =>
  (text) =>
    /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;
const duration: Parse = (text) => (parseGoDuration(text) === undefined ? undefined : secondsOf(text));
const plain: Parse = (text) => (text === "" ? undefined : text);

/** Annotation, option and how its text is read. */
const OPTIONS: readonly (readonly [annotation: string, option: string, Parse])[] = [
  ["no-tls-verify", "noTLSVerify", parseFlag],
  ["http2-origin", "http2Origin", parseFlag],
  ["disable-chunked-encoding", "disableChunkedEncoding", parseFlag],
  ["bastion-mode", "bastionMode", parseFlag],
  ["no-happy-eyeballs", "noHappyEyeballs", parseFlag],
  ["match-sni-to-host", "matchSNItoHost", parseFlag],
  ["connect-timeout", "connectTimeout", duration],
  ["tls-timeout", "tlsTimeout", duration],
  ["keep-alive-timeout", "keepAliveTimeout", duration],
  ["tcp-keep-alive", "tcpKeepAlive", duration],
  ["keep-alive-connections", "keepAliveConnections", whole(0, Number.MAX_SAFE_INTEGER)],
  ["proxy-port", "proxyPort", whole(1, 65_535)],
  ["ca-pool", "caPool", (text) => (text === "" ? undefined : `${CA_DIRECTORY}/${text}`)],
  ["origin-server-name", "originServerName", plain],
  ["http-host-header", "httpHostHeader", plain],
  ["proxy-address", "proxyAddress", plain],
  ["proxy-type", "proxyType", (text) => (text === "" || text === "socks" ? text : undefined)],
];

export interface AnnotatedOptions {
  readonly options: Unknown;
  readonly notices: readonly OptionNotice[];
}

/** Options that the annotations set; malformed values are left out and told. */
export function annotatedOptions(annotations: Annotations): AnnotatedOptions {
  const options: Record<string, unknown> = {};
  const notices: OptionNotice[] = [];
  for (const [name, option, parse] of OPTIONS) {
    const text = annotations[`${INGRESS_PREFIX}/${name}`];
    if (text === undefined) continue;
    const value = parse(text);
    if (value === undefined) notices.push(invalid(name, text));
    else options[option] = value;
  }
  const access = accessOf(annotations, notices);
  if (access !== undefined) options.access = access;
  return { options, notices };
}

/** A flag by annotation; nothing when it is missing or malformed, which is told. */
export function annotatedFlag(
  annotations: Annotations,
  name: string,
  notices: OptionNotice[],
): boolean | undefined {
  const text = annotations[`${INGRESS_PREFIX}/${name}`];
  if (text === undefined) return undefined;
  const value = parseFlag(text);
  if (value === undefined) notices.push(invalid(name, text));
  return value;
}

/** What is told of a value that cannot be used. */
export function invalid(name: string, text: string): OptionNotice {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return {
    reason: "InvalidAnnotation",
    message: `${INGRESS_PREFIX}/${name}: ${JSON.stringify(shown)} is ignored`,
  };
}

function accessOf(annotations: Annotations, notices: OptionNotice[]): Unknown | undefined {
  const required = annotatedFlag(annotations, "access-required", notices);
  const teamName = annotations[`${INGRESS_PREFIX}/access-team-name`];
  const audiences = annotations[`${INGRESS_PREFIX}/access-aud`]?.split(",").map((part) => part.trim());
  const audTag = audiences?.filter((part) => part !== "");
  if (required === undefined && teamName === undefined && audTag === undefined) return undefined;
  return {
    ...(required !== undefined && { required }),
    ...(teamName !== undefined && { teamName }),
    ...(audTag !== undefined && { audTag }),
  };
}
