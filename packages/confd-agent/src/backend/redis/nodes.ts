/** Addresses of Redis servers as users write them, and how to log in. */
import { existsSync } from "node:fs";
import type { BackendSettings } from "../../config/settings.ts";
import { ConfigError } from "../../errors.ts";

export interface RedisNode {
  readonly label: string;
  readonly host?: string;
  readonly port?: number;
  /** Path of a socket. */
  readonly path?: string;
  readonly db: number;
  readonly tls: boolean;
}

const DEFAULT_PORT = 6379;

/** Reads `h:p`, `h:p/DB`, a path, `redis://…` and `rediss://…`; throws a {@link ConfigError}. */
export function parseRedisNode(node: string): RedisNode {
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

/** The password: its own setting, or as confd took it from `client-key`. */
export function redisPassword({ password, clientCert, clientKey }: BackendSettings): {
  readonly password: string;
  readonly fromClientKey: boolean;
} {
  const fromClientKey = password === "" && clientKey !== "" && clientCert === "" && !existsSync(clientKey);
  return { password: fromClientKey ? clientKey : password, fromClientKey };
}
