/** Redis as a source: strings and hashes, and its notices of changed keys. */

import { Redis, type RedisOptions } from "ioredis";
import type { BackendSettings } from "../../config/settings.ts";
import { BackendError, ConfigError, messageOf } from "../../errors.ts";
import type { Level } from "../../observe/log.ts";
import type { Backend, WatchEvents } from "../backend.ts";
import { readTlsFiles } from "../tls.ts";
import { escaped, redisKeys } from "./keys.ts";
import { parseRedisNodes, type RedisNode, redisPassword } from "./nodes.ts";
import { prepareNotices, untoldChanges } from "./notices.ts";
import { hashesAbove, isReply } from "./read.ts";
import { createReader } from "./reader.ts";
import { followMaster, inOurWords, viaSentinels } from "./sentinel.ts";

/** Pause between signs of life that a watch asks for, in milliseconds. */
const ALIVE_MS = 10_000;

export interface RedisBackendOptions {
  readonly settings: BackendSettings;
  readonly notice: (level: Level, message: string) => void;
}

export function createRedisBackend({ settings, notice }: RedisBackendOptions): Backend {
  const nodes = parseRedisNodes(settings.nodes);
  const keys = redisKeys(settings.separator, settings.stripLeadingSlash);
  const { password, fromClientKey } = redisPassword(settings);
  if (fromClientKey)
    notice("warn", "redis: client-key is taken as the password, as confd does: use password");
  let current = 0;
  let commands: Redis | undefined;
  let connecting: Promise<Redis> | undefined;

  const connect = async (node: RedisNode): Promise<Redis> => {
    const redis = new Redis(optionsOf(node, settings, password, fromClientKey));
    let problem: unknown;
    redis.on("error", (error: unknown) => {
      problem ??= error;
    });
    try {
      await redis.connect();
      await redis.ping();
      return redis;
    } catch (error) {
      redis.disconnect();
      const reason = inOurWords(messageOf(problem ?? error));
      throw new BackendError(`${node.label}: ${reason}`, { cause: error });
    }
  };
  /** A connection to the first node that answers, beginning with the one that did. */
  const connectAny = async (): Promise<Redis> => {
    let problem: unknown = new BackendError("no node");
    for (let tries = 0; tries < nodes.length; tries++) {
      try {
        const redis = await connect(nodes[current % nodes.length]!);
        await refuseCluster(redis);
        return redis;
      } catch (error) {
        problem = error;
        current += 1;
      }
    }
    throw problem;
  };
  /** One connection for all reads, also for those that find it lost at the same time. */
  const commandConnection = async (): Promise<Redis> => {
    if (commands?.status === "ready") return commands;
    commands?.disconnect();
    connecting ??= connectAny().finally(() => {
      connecting = undefined;
    });
    commands = await connecting;
    return commands;
  };
  const reader = createReader({
    keys,
    connection: commandConnection,
    onUnusable: (key) => notice("warn", `redis: ${key} is neither a string nor a hash: it is left out`),
  });

  /** Follows what is told on the connection; what is not told of whole databases is looked for before each read. */
  const followTold = async (redis: Redis, ranges: readonly string[], events: WatchEvents): Promise<void> => {
    const look = async (): Promise<string | undefined> => await untoldChanges(await commandConnection());
    let untold = await look();
    if (untold === undefined) {
      notice("warn", "redis: INFO is refused: after each change all keys of its ranges are read");
      return;
    }
    reader.follow(ranges, async () => {
      const [now] = await Promise.all([look(), redis.ping()]);
      if (now === untold) return;
      untold = now;
      reader.forget();
      events.onChange({});
    });
  };

  return {
    label: `redis ${settings.nodes.join(", ")}`,
    read: async (ranges, { atLeast, signal }) => {
      try {
        return await reader.read(ranges, { changed: atLeast !== undefined, signal });
      } catch (error) {
        // What does not answer any more may look connected for long.
        if (!isReply(error) && error !== signal.reason) commands?.disconnect();
        throw error;
      }
    },
    watch: async (ranges, events, signal) => {
      const redis = await connectAny();
      const node = nodes[current % nodes.length]!;
      const { db } = node;
      let poll: NodeJS.Timeout | undefined;
      let alive: NodeJS.Timeout | undefined;
      let unfollow = (): void => {};
      try {
        const polling = await prepareNotices(redis, settings, events.onNotice);
        const start = `__keyspace@${db}__:`;
        const ended = new Promise<void>((resolve, reject) => {
          redis.once("end", () => reject(new BackendError("the connection is lost")));
          alive = setInterval(() => {
            redis.ping().catch((error: unknown) => {
              if (!isReply(error)) reject(new BackendError("the server does not answer any more"));
            });
          }, ALIVE_MS);
          signal.addEventListener("abort", () => resolve(), { once: true });
          // The old master may hang with its connections open.
          unfollow = followMaster(node, settings, tlsOf(node, settings, fromClientKey), () => {
            commands?.disconnect();
            reject(new BackendError(`${node.name}: another server is the master now`));
          });
        });
        // It may end before it is waited for.
        ended.catch(() => {});
        const told = (channel: Buffer): void => {
          const own = channel.toString("latin1").slice(start.length);
          const revision = reader.told(own);
          // Of a hash it is not told which field changed.
          events.onChange({
            keys: [keys.logical(own)],
            withBelow: true,
            ...(revision === undefined ? {} : { revision }),
          });
        };
        redis.on("pmessageBuffer", (_pattern: unknown, channel: Buffer) => told(channel));
        const patterns = ranges.flatMap((range) => [
          ...(range === "/" ? [] : [start + escaped(keys.own(range))]),
          start + keys.below(range),
        ]);
        if (signal.aborted) return;
        // Keys may be any bytes: the types know of strings only.
        const encoded = patterns.map((pattern) => Buffer.from(pattern, "latin1")) as unknown as string[];
        await redis.psubscribe(...encoded);
        for (const key of hashesAbove(ranges, keys)) {
          // Who may not listen there has no hash there either.
          await redis
            .psubscribe(Buffer.from(start + escaped(key), "latin1") as unknown as string)
            .catch(() => {});
        }
        if (polling === undefined) await followTold(redis, ranges, events);
        events.onReady({ resumed: false });
        if (polling !== undefined) poll = setInterval(() => events.onChange({}), polling);
        await ended;
      } finally {
        clearInterval(poll);
        clearInterval(alive);
        unfollow();
        reader.unfollow();
        redis.disconnect();
      }
    },
    health: async () => void (await (await commandConnection()).ping()),
    close: async () => commands?.disconnect(),
  };
}

function optionsOf(
  node: RedisNode,
  settings: BackendSettings,
  password: string,
  fromClientKey: boolean,
): RedisOptions {
  const tls = tlsOf(node, settings, fromClientKey);
  const server = node.path === undefined ? { host: node.host!, port: node.port! } : { path: node.path };
  return {
    ...(node.sentinels === undefined
      ? { ...server, ...(tls === undefined ? {} : { tls }) }
      : viaSentinels(node, settings, tls)),
    db: node.db,
    ...(settings.username === "" ? {} : { username: settings.username }),
    ...(password === "" ? {} : { password }),
    lazyConnect: true,
    connectTimeout: settings.dialTimeout,
    commandTimeout: settings.backendTimeout,
    // The agent itself comes back after a failure, with its own pauses.
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    keepAlive: 10_000,
  };
}

function tlsOf(node: RedisNode, settings: BackendSettings, fromClientKey: boolean): RedisOptions["tls"] {
  const files = readTlsFiles(fromClientKey ? { ...settings, clientKey: "" } : settings);
  const wanted = node.tls || files.ca !== undefined || files.cert !== undefined;
  return wanted ? { ...files, rejectUnauthorized: !settings.clientInsecure } : undefined;
}

async function refuseCluster(redis: Redis): Promise<void> {
  const info = await redis.info("cluster").catch(() => "");
  if (!/^cluster_enabled:1/m.test(info)) return;
  redis.disconnect();
  throw new ConfigError("redis cluster is not supported: its notices and scans are per node");
}
