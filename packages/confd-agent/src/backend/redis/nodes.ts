/** Addresses of Redis servers as users write them, and how to log in. */
import { existsSync } from "node:fs";
import type { BackendSettings } from "../../config/settings.ts";
import { ConfigError } from "../../errors.ts";

interface SentinelAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisNode {
  readonly label: string;
  readonly host?: string;
  readonly port?: number;
  /** Path of a socket. */
  readonly path?: string;
  readonly db: number;
  readonly tls: boolean;
  /** Sentinels that tell where it is, by its name. */
  readonly sentinels?: readonly SentinelAddress[];
  readonly name?: string;
}

const DEFAULT_PORT = 6379;
const SCHEME = "sentinel://";
const SENTINEL_PORT = 26_379;

/** Reads the nodes: servers each for itself, or sentinels of one; throws a {@link ConfigError}. */
export const parseRedisNodes = (nodes: readonly string[]): RedisNode[] =>
  nodes.some(namesSentinel) ? [parseSentinels(nodes)] : nodes.map(parseRedisNode);

/** Reads `h:p`, `h:p/DB`, a path, `redis://…` and `rediss://…`. */
function parseRedisNode(node: string): RedisNode {
  const fail = (problem: string): never => {
    throw new ConfigError(
      `node ${JSON.stringify(node)}: ${problem}: use host:port, host:port/DB, redis://host:port/DB or the path of a socket`,
    );
  };
  if (node.startsWith("/")) return { label: node, path: node, db: 0, tls: false };
  const scheme = /^(rediss?):\/\//.exec(node);
  const rest = node.slice(scheme?.[0].length ?? 0).replace(/^[^@/]*@/, "");
  const [address = "", database = ""] = rest.split("/");
  if (database !== "" && !/^[0-9]{1,5}$/.test(database))
    fail(`database ${JSON.stringify(database)} is no number`);
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+)(?::([0-9]{1,5}))?$/.exec(address);
  if (match === null) fail("not an address");
  return {
    label: address,
    host: match![1]!.replace(/^\[|\]$/g, ""),
    port: Number(match![2] ?? DEFAULT_PORT),
    db: Number(database || 0),
    tls: scheme?.[1] === "rediss",
  };
}

const namesSentinel = (node: string): boolean => node.startsWith(SCHEME);

/** Reads nodes `sentinel://HOST:PORT/NAME[/DB]`, all of one master; throws a {@link ConfigError}. */
function parseSentinels(nodes: readonly string[]): RedisNode {
  const parsed = nodes.map(parseSentinel);
  const [{ name, db }] = parsed as [ReturnType<typeof parseSentinel>];
  if (parsed.some((other) => other.name !== name || other.db !== db)) {
    throw new ConfigError(`nodes ${nodes.join(", ")}: sentinels of several masters: name one master alone`);
  }
  const sentinels = parsed.map(({ host, port }) => ({ host, port }));
  const places = sentinels.map(({ host, port }) => `${host}:${port}`).join(", ");
  return { label: `${name} of the sentinels ${places}`, db, tls: false, sentinels, name };
}

function parseSentinel(node: string): SentinelAddress & { name: string; db: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:/\s]+)(?::([0-9]{1,5}))?\/([^/\s]+)(?:\/([0-9]{1,5}))?$/.exec(
    node.slice(SCHEME.length),
  );
  if (!namesSentinel(node) || match === null) {
    throw new ConfigError(
      `node ${JSON.stringify(node)}: not a sentinel: use ${SCHEME}host:port/NAME or ${SCHEME}host:port/NAME/DB for all nodes`,
    );
  }
  return {
    host: match[1]!.replace(/^\[|\]$/g, ""),
    port: Number(match[2] ?? SENTINEL_PORT),
    name: match[3]!,
    db: Number(match[4] ?? 0),
  };
}

/** The password: its own setting, or as confd took it from `client-key`. */
export function redisPassword({ password, clientCert, clientKey }: BackendSettings): {
  readonly password: string;
  readonly fromClientKey: boolean;
} {
  const fromClientKey = password === "" && clientKey !== "" && clientCert === "" && !existsSync(clientKey);
  return { password: fromClientKey ? clientKey : password, fromClientKey };
}
