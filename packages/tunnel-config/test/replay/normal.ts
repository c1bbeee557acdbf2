/** What of a case is compared, on both sides in one form: what all decisions leave of it. */
import type { Json } from "@quartet/testing/replay";
import { textOf } from "../../src/desired/marker.ts";

/** Default of cloudflared, which the peer writes out. */
const PROXY_ADDRESS = "127.0.0.1";
const CATCH_ALL = { service: "http_status:404" };
/** Comment that the peer gives every record of its own. */
const PEER_COMMENT = /^Managed by (cloudflare-operator|Gateway \S+)$/;
/** Kinds that keep no finalizer here (D29, TUN-533). */
const WITHOUT_FINALIZER = new Set(["Ingress", "TunnelBinding", "Gateway", "HTTPRoute"]);
/** Members of a status that mean the same on both sides. */
const STATUS = [
  "state",
  "tunnelId",
  "tunnelName",
  "accountId",
  "zoneId",
  "hostnames",
  "services",
  "fqdn",
  "loadBalancer",
  "ingressCount",
  "accountName",
  "virtualNetworkId",
  "groupId",
  "ruleId",
  "applicationId",
  "bucketName",
  "network",
];
const IDS = ["recordId", "routeId"];
const CONDITIONS = ["Ready", "Accepted", "Programmed"];
const PREVIOUS_HOSTS = "cloudflare-operator.io/previous-hostnames";

/** Rules in their order, the settings, and the catch-all though the peer leaves it out (TUN-609). */
export function normalConfig(config: unknown): Json {
  const { ingress, originRequest, ...rest } = asMap(config);
  const list = Array.isArray(ingress) ? ingress.map(normalRule) : [];
  const last = list.at(-1);
  const closed = last !== undefined && last.hostname === undefined && last.path === undefined;
  return {
    ingress: closed ? list : [...list, CATCH_ALL],
    originRequest: normalOptions(originRequest) ?? {},
    warp: asMap(rest["warp-routing"] ?? rest.warp_routing).enabled === true,
  };
}

function normalRule(rule: unknown): Json {
  const { hostname, path, service, originRequest } = asMap(rule);
  const options = normalOptions(originRequest);
  return {
    ...(hostname !== undefined && hostname !== "" && { hostname }),
    ...(path !== undefined && path !== "" && { path }),
    service,
    ...(options !== undefined && { originRequest: options }),
  };
}

/** Options that are set: `false` and the default address of the proxy say nothing (D16). */
function normalOptions(options: unknown): Json | undefined {
  const entries = Object.entries(asMap(options)).filter(
    ([key, value]) =>
      value !== false &&
      value !== "" &&
      value !== null &&
      !(key === "proxyAddress" && value === PROXY_ADDRESS),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Of a document what all sources together serve: the peer keeps one source for each class (D7). */
export function normalDocument(text: unknown): Json | undefined {
  const document = parsed(text);
  if (document === undefined) return undefined;
  const { tunnelId, accountId, tunnelName, credentialsRef, syncStatus } = document;
  return {
    tunnelId,
    accountId,
    tunnelName,
    credentials: asMap(credentialsRef).name,
    syncStatus,
    rules: rulesOf(document.sources),
  };
}

/** Rules of all sources as sorted texts, each once. */
export function rulesOf(sources: unknown): string[] {
  const all = Object.values(asMap(sources)).flatMap((source) => {
    const { rules } = asMap(source);
    return Array.isArray(rules) ? rules.map((rule) => asMap(rule)) : [];
  });
  const texts = all.map(({ hostname = "", path = "", service }) => `${hostname} ${path} ${service}`);
  return [...new Set(texts)].sort();
}

/** Records of the zone, the texts of the peer's registry left out (TUN-421). */
export function normalDns(records: readonly unknown[], kept: ReadonlySet<string>): Json[] {
  const all = records
    .map(asMap)
    .filter(
      ({ type, name }) => type !== "TXT" || !String(name).startsWith("_managed.") || kept.has(String(name)),
    );
  return all
    .map(({ type, name, content, ttl, proxied, priority, comment }) => {
      const own = textOf(String(comment ?? "")).replace(PEER_COMMENT, "");
      return {
        name: `${type} ${name}`,
        content,
        ttl,
        ...(proxied === true && { proxied }),
        ...(priority !== undefined && priority !== null && { priority }),
        ...(own !== "" && { comment: own }),
      };
    })
    .sort((a, b) => compare(JSON.stringify(a), JSON.stringify(b)));
}

/** What is compared of an object's own state. */
export function normalState(kind: string, object: Json): Json {
  const status = asMap(object.status);
  const metadata = object.metadata === undefined ? object : asMap(object.metadata);
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).map(asMap);
  const result: Json = {};
  for (const member of STATUS) {
    const value = compact(status[member]);
    if (value !== undefined) result[member] = value;
  }
  for (const member of IDS) if (compact(status[member]) !== undefined) result[member] = "present";
  for (const type of CONDITIONS) {
    const found = conditions.find((condition) => condition.type === type);
    if (found !== undefined) result[type] = found.status;
  }
  const finalizers = metadata.finalizers;
  if (!WITHOUT_FINALIZER.has(kind) && Array.isArray(finalizers) && finalizers.length > 0)
    result.finalizers = finalizers;
  const hosts = asMap(metadata.annotations)[PREVIOUS_HOSTS];
  if (kind === "TunnelBinding" && hosts !== undefined) result.previousHosts = hosts;
  return result;
}

function compact(value: unknown): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(compact);
  if (typeof value !== "object") return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const kept = compact(inner);
    return kept === undefined ? [] : [[key, kept]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function parsed(text: unknown): Json | undefined {
  try {
    return asMap(JSON.parse(String(text)));
  } catch {
    return undefined;
  }
}

export function asMap(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
