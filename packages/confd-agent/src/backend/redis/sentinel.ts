/** Redis behind Sentinel: its master is asked for by name, and told when it is another. */
import { Redis, type RedisOptions } from "ioredis";
import type { BackendSettings } from "../../config/settings.ts";
import type { RedisNode } from "./nodes.ts";

/** Told by a sentinel when a master's place is another: `NAME OLD-IP OLD-PORT IP PORT`. */
const SWITCHED = "+switch-master";
const RETRY_MS = 1000;
/** What the client says when no sentinel names a master: with what the last one had to say, if anything. */
const NO_MASTER = /All sentinels are unreachable and retry is disabled\.(?: Last error: (.*))?/s;

/** The words of the client in ours. */
export const inOurWords = (problem: string): string =>
  problem.replace(NO_MASTER, (_, last: string | undefined) =>
    ["no sentinel can be reached that knows this master", ...(last === undefined ? [] : [last])].join(": "),
  );

/** How to log in to sentinels; they have users and passwords of their own. */
export type SentinelLogin = Pick<BackendSettings, "sentinelUsername" | "sentinelPassword">;

/** Options of connections to the master that the sentinels name. */
export const viaSentinels = (
  { sentinels = [], name = "" }: RedisNode,
  { sentinelUsername, sentinelPassword }: SentinelLogin,
  tls: RedisOptions["tls"],
): RedisOptions => ({
  sentinels: [...sentinels],
  name,
  ...(sentinelUsername === "" ? {} : { sentinelUsername }),
  ...(sentinelPassword === "" ? {} : { sentinelPassword }),
  sentinelRetryStrategy: () => null,
  ...(tls === undefined ? {} : { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
});

/** Calls back when a sentinel tells of another master; a sentinel that is away is tried again and again. */
export function followMaster(
  { sentinels = [], name }: RedisNode,
  { sentinelUsername, sentinelPassword }: SentinelLogin,
  tls: RedisOptions["tls"],
  onSwitch: () => void,
): () => void {
  const connections = sentinels.map((address) => {
    const redis = new Redis({
      ...address,
      ...(sentinelUsername === "" ? {} : { username: sentinelUsername }),
      ...(sentinelPassword === "" ? {} : { password: sentinelPassword }),
      ...(tls === undefined ? {} : { tls }),
      retryStrategy: () => RETRY_MS,
      maxRetriesPerRequest: null,
      enableReadyCheck: false,
    });
    // Others may tell as well, and it is tried again.
    redis.on("error", () => {});
    redis.on("message", (_channel, message: string) => {
      if (message.startsWith(`${name} `)) onSwitch();
    });
    redis.subscribe(SWITCHED).catch(() => {});
    return redis;
  });
  return () => {
    for (const redis of connections) redis.disconnect();
  };
}
