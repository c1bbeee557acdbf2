/** What only v1alpha2 has, carried by an annotation of objects of v1alpha1 (section 3.2). */
import type { Tunnel } from "../api.gen.ts";
import { isMap } from "../desired/document.ts";

type Spec = NonNullable<Tunnel["spec"]>;
type Cloudflare = NonNullable<Spec["cloudflare"]>;

export interface Extra
  extends Pick<Spec, "enableWarpRouting" | "originRequest" | "hostPolicy" | "deletionPolicy" | "deployPatch">,
    Pick<Cloudflare, "credentialsRef" | "zoneId"> {}

const text = (value: unknown): boolean => typeof value === "string";
const flag = (value: unknown): boolean => typeof value === "boolean";
const count = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const port = (value: unknown): boolean =>
  count(value) && (value as number) >= 1 && (value as number) <= 65_535;
type Check = (value: unknown) => boolean;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isMap(value) && Object.entries(value).every(([key, inner]) => passes(checks, key, inner));

/** Own members alone: an annotation may name those that every object inherits, as in `hasOwnProperty`. */
function passes(checks: Readonly<Record<string, Check>>, key: string, value: unknown): boolean {
  return Object.hasOwn(checks, key) && checks[key]!(value);
}

const ORIGIN_REQUEST = shape({
  noTlsVerify: flag,
  http2Origin: flag,
  connectTimeout: text,
  tlsTimeout: text,
  keepAliveTimeout: text,
  tcpKeepAlive: text,
  keepAliveConnections: count,
  noHappyEyeballs: flag,
  matchSNItoHost: flag,
  caPool: text,
  originServerName: text,
  httpHostHeader: text,
  proxyAddress: text,
  proxyPort: port,
  proxyType: (value) => value === "" || value === "socks",
  disableChunkedEncoding: flag,
  bastionMode: flag,
  ipRules: listOf(shape({ prefix: text, ports: listOf(port), allow: flag })),
  access: shape({ required: flag, teamName: text, audTag: listOf(text) }),
});

const some =
  (check: Check, most: number): Check =>
  (value) =>
    listOf(check)(value) && (value as unknown[]).length > 0 && (value as unknown[]).length <= most;
const OPERATORS: ReadonlySet<unknown> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);
const atMost =
  (most: number, check: Check): Check =>
  (value) =>
    listOf(check)(value) && (value as unknown[]).length <= most;
const matches =
  (pattern: RegExp, most: number): Check =>
  (value) =>
    typeof value === "string" && value.length <= most && pattern.test(value);
/** The pattern of the schema. */
const HOST_PATTERN = /^(\*|(\*\.)?[^\s.*/:]+(\.[^\s.*/:]+)*)$/;
const GRANT = shape({
  namespaces: atMost(100, matches(/./, 63)),
  namespaceSelector: shape({
    matchLabels: (value) => isMap(value) && Object.values(value).every(text),
    matchExpressions: atMost(
      20,
      (value) =>
        shape({ key: text, operator: text, values: atMost(100, text) })(value) &&
        "key" in (value as object) &&
        OPERATORS.has((value as { operator?: unknown }).operator),
    ),
  }),
  hostnames: some(matches(HOST_PATTERN, 255), 100),
});

const CHECKS: Readonly<Record<keyof Extra, Check>> = {
  enableWarpRouting: flag,
  originRequest: ORIGIN_REQUEST,
  deletionPolicy: (value) => value === "Delete" || value === "Orphan",
  deployPatch: text,
  hostPolicy: some((value) => {
    if (!GRANT(value)) return false;
    const { hostnames, namespaces, namespaceSelector } = value as Record<string, unknown>;
    return hostnames !== undefined && (namespaces ?? namespaceSelector) !== undefined;
  }, 100),
  credentialsRef: (value) =>
    shape({ name: (name) => text(name) && name !== "" })(value) && "name" in (value as object),
  zoneId: text,
};

/** What the annotation says. Anybody can write it: what v1alpha2 would not take is left out. */
export function readExtra(annotation: string | undefined): Extra {
  let value: unknown;
  try {
    value = JSON.parse(annotation ?? "{}");
  } catch {
    return {};
  }
  if (!isMap(value)) return {};
  const known = Object.entries(value).filter(([key, inner]) => passes(CHECKS, key, inner));
  return Object.fromEntries(known) as Extra;
}
