/** ZooKeeper as a source, followed by one recursive watch for each range (3.6 and later). */
import { bytesOf, textOf } from "@quartet/go-template";
import type { BackendSettings } from "../../config/settings.ts";
import { BackendError, ConfigError, messageOf } from "../../errors.ts";
import { aborted } from "../../run/aborted.ts";
import type { Backend, WatchEvents } from "../backend.ts";
import { createFollowed } from "../followed.ts";
import {
  ADD_WATCH,
  EXISTS,
  openSession,
  type ServerAddress,
  type Session,
  UNIMPLEMENTED,
  ZooKeeperError,
} from "./session.ts";
import { readNodes, readTrees } from "./tree.ts";

const DEFAULT_PORT = 2181;
/** Kind of watch that stays and tells of all nodes below (AddWatchMode.PERSISTENT_RECURSIVE). */
const RECURSIVE = 1;
/** Kinds of events (Watcher.Event.EventType). */
const CREATED = 1;
const DELETED = 2;
const CHANGED = 3;
/** Longest pause between two reads where the server has no such watches, in milliseconds. */
const MAX_POLL_MS = 10_000;

export function createZooKeeperBackend(settings: BackendSettings): Backend {
  const servers = settings.nodes.map(parseServer);
  const login = settings.username === "" ? "" : bytesOf(`${settings.username}:${settings.password}`);
  let current = 0;
  let session: Session | undefined;
  let opening: Promise<Session> | undefined;
  let onEvent = (_path: string): void => {};

  /** A session with the first server that answers, beginning with the one that did. */
  const openAny = async (): Promise<Session> => {
    let problem: unknown = new BackendError("no node");
    for (let tries = 0; tries < servers.length; tries++) {
      const server = servers[current % servers.length]!;
      try {
        return await openSession({
          server,
          dialTimeout: settings.dialTimeout,
          answerTimeout: settings.backendTimeout,
          login,
          onEvent: (path, kind) => {
            if (![CREATED, DELETED, CHANGED].includes(kind)) return;
            onEvent(path);
            // Where nothing lies below it a node is a key, empty as it may be.
            if (kind !== CHANGED) onEvent(parentOf(path));
          },
        });
      } catch (error) {
        problem = new BackendError(`${settings.nodes[current % servers.length]}: ${messageOf(error)}`, {
          cause: error,
        });
        current += 1;
      }
    }
    throw problem;
  };
  const connected = async (): Promise<Session> => {
    if (session?.isOpen() === true) return session;
    opening ??= openAny().finally(() => {
      opening = undefined;
    });
    session = await opening;
    return session;
  };
  const followed = createFollowed({
    logical: (path) => path,
    above: () => [],
    readAll: async (ranges, signal) => await readTrees(await connected(), ranges, signal),
    readOwns: async (paths, _ranges, signal) => await readNodes(await connected(), paths, signal),
  });
  /** Whether the server has watches of this kind. */
  const addWatches = async (own: Session, ranges: readonly string[]): Promise<boolean> => {
    try {
      for (const range of ranges) await own.call(ADD_WATCH, (body) => body.bytes(range).int(RECURSIVE));
      return true;
    } catch (error) {
      if (error instanceof ZooKeeperError && error.code === UNIMPLEMENTED) return false;
      throw error;
    }
  };
  return {
    label: `zookeeper ${settings.nodes.join(", ")}`,
    read: (ranges, { signal, atLeast }) => followed.read(ranges, { signal, changed: atLeast !== undefined }),
    watch: async (ranges, events, signal) => {
      // Reads are of the session of the watch: they see what it has told of.
      const own = await connected();
      const over = new AbortController();
      onEvent = (path) => {
        const revision = followed.told(path);
        events.onChange({ keys: [path], ...(revision === undefined ? {} : { revision }) });
      };
      try {
        if (!(await addWatches(own, ranges))) return await poll(settings, events, signal);
        followed.follow(ranges, () => own.call(EXISTS, (body) => body.bytes("/").flag(false)));
        events.onReady({ resumed: false });
        const reason = await Promise.race([own.ended, aborted(signal, over.signal)]);
        if (reason !== undefined) throw reason;
      } finally {
        over.abort();
        onEvent = () => {};
        followed.unfollow();
        // The server keeps its watches as long as the session.
        own.end();
      }
    },
    health: async () => void (await (await connected()).call(EXISTS, (body) => body.bytes("/").flag(false))),
    close: async () => session?.end(),
  };
}

/** Tells that anything may have changed, again and again. */
async function poll({ interval }: BackendSettings, events: WatchEvents, signal: AbortSignal): Promise<void> {
  const pause = Math.min(interval, MAX_POLL_MS);
  events.onNotice(
    "warn",
    `zookeeper: the server is older than 3.6 and does not tell of changes below nodes: reading every ${pause / 1000}s`,
  );
  events.onReady({ resumed: false });
  const timer = setInterval(() => events.onChange({}), pause);
  await aborted(signal);
  clearInterval(timer);
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 0)) || "/";

function parseServer(node: string): ServerAddress {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:/\s]+)(?::([0-9]{1,5}))?$/.exec(node);
  if (match === null) {
    throw new ConfigError(`node ${JSON.stringify(textOf(node))}: not an address: use host:port`);
  }
  return { host: match[1]!.replace(/^\[|\]$/g, ""), port: Number(match[2] ?? DEFAULT_PORT) };
}
