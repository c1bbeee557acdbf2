/** Follows ranges of etcd over one stream, and goes on from where it was after an interruption. */
import { BackendError, messageOf } from "../../errors.ts";
import type { Backend, WatchEvents } from "../backend.ts";
import { type EtcdConnection, isAuthError } from "./connection.ts";
import type { Interval, Keys } from "./keys.ts";
import { askPosition } from "./position.ts";
import { decode, encode, type Message } from "./wire.ts";

const WATCH = "/etcdserverpb.Watch/Watch";
/** Pause before a refused interval is asked for again, in milliseconds. */
const REFUSED_RETRY_MS = 30_000;

/** What is known of a watched interval. */
interface Watcher {
  readonly interval: Interval;
  /** Changes up to here were told. */
  position: bigint | undefined;
  created: boolean;
  /** The server has told that it will not be watched for now. */
  refused: boolean;
}

/** Makes the watch function of a backend; it remembers positions between its calls. */
export function createEtcdWatch(connection: EtcdConnection, keys: Keys): NonNullable<Backend["watch"]> {
  const positions = new Map<string, bigint>();
  let cluster = "";
  let newest = 0n;

  /** Forgets positions when they are those of another history. */
  const checkHistory = (header: Message, events: WatchEvents): void => {
    const id = header.number(1).toString();
    const revision = header.number(3);
    const isOther =
      (cluster !== "" && id !== "0" && id !== cluster) || (revision !== 0n && revision < newest);
    if (id !== "0") cluster = id;
    if (!isOther) {
      newest = revision;
      return;
    }
    events.onNotice("warn", "etcd: backend history was reset: everything is read anew");
    positions.clear();
    newest = revision;
  };

  return async (ranges, events, signal) => {
    // The store's position first: a watch from beyond its end would be silent.
    const intervals = ranges.flatMap((range) => keys.intervals(range));
    const header = await askPosition(connection, intervals, signal);
    if (header !== undefined) checkHistory(header, events);
    const watchers: Watcher[] = intervals.map((interval) => ({
      interval,
      position: positions.get(idOf(interval)),
      created: false,
      refused: false,
    }));
    const stream = await connection.stream(WATCH, signal);
    try {
      await followStream(stream, watchers, { events, signal, keys, positions });
    } catch (error) {
      if (isAuthError(error)) connection.forgetToken();
      if (!signal.aborted) connection.leave();
      throw error;
    } finally {
      stream.cancel();
    }
  };
}

const idOf = ({ key, end }: Interval): string => `${key}\n${end ?? ""}`;

interface FollowOptions {
  readonly events: WatchEvents;
  readonly signal: AbortSignal;
  readonly keys: Keys;
  readonly positions: Map<string, bigint>;
}

type Stream = Awaited<ReturnType<EtcdConnection["stream"]>>;

function followStream(stream: Stream, watchers: readonly Watcher[], options: FollowOptions): Promise<void> {
  const { events, signal, keys, positions } = options;
  const awaited: Watcher[] = [];
  const byId = new Map<bigint, Watcher>();
  const timers = new Set<NodeJS.Timeout>();
  /** All ranges are watched from positions that nothing is missing before. */
  let resumed = watchers.every(({ position }) => position !== undefined);
  let isReady = false;

  const create = (watcher: Watcher): void => {
    const { interval, position } = watcher;
    const request = encode([
      [1, interval.key],
      ...(interval.end === undefined ? [] : ([[2, interval.end]] as const)),
      [3, position === undefined ? 0n : position + 1n],
      [4, true],
      [8, true],
    ]);
    awaited.push(watcher);
    stream.write(encode([[1, request]]));
  };
  const move = (watcher: Watcher, position: bigint): void => {
    // A position that is missing in an answer changes nothing.
    if (position === 0n || (watcher.position !== undefined && position <= watcher.position)) return;
    watcher.position = position;
    positions.set(idOf(watcher.interval), position);
  };
  const readyIfAll = (): void => {
    if (isReady || !watchers.every(({ created, refused }) => created || refused)) return;
    isReady = true;
    events.onReady({ resumed });
  };
  /** Begins to watch an interval anew from now; what was in between has to be read. */
  const createAnew = (watcher: Watcher): void => {
    watcher.position = undefined;
    watcher.created = false;
    positions.delete(idOf(watcher.interval));
    create(watcher);
  };
  const refuse = (watcher: Watcher, reason: string): void => {
    watcher.refused = true;
    const what = watcher.interval.end === undefined ? watcher.interval.key : `${watcher.interval.key}*`;
    events.onNotice("error", `etcd: cannot watch ${what}: ${reason}`);
    const timer = setTimeout(() => {
      timers.delete(timer);
      createAnew(watcher);
    }, REFUSED_RETRY_MS);
    timers.add(timer);
    readyIfAll();
  };

  const onCreated = (watcher: Watcher, message: Message, revision: bigint): void => {
    byId.set(message.number(2), watcher);
    watcher.created = true;
    watcher.refused = false;
    // From now on: what was before has to be read after this.
    if (watcher.position === undefined) move(watcher, revision);
    if (isReady) events.onChange({});
    readyIfAll();
  };
  const onCanceled = (watcher: Watcher, message: Message): void => {
    byId.delete(message.number(2));
    const reason = message.text(6);
    if (message.number(5) > 0n) {
      events.onNotice(
        "info",
        "etcd: the history since the last change was compacted: everything is read anew",
      );
      resumed = false;
      createAnew(watcher);
    } else if (reason.includes("permission denied")) refuse(watcher, "permission denied");
    else throw new BackendError(`etcd ended the watch: ${reason || "no reason given"}`);
  };
  const onEvents = (watcher: Watcher, message: Message, revision: bigint): void => {
    const changes = message.messages(11).map((event) => event.message(2));
    const last = BigInt(Math.max(0, ...changes.map((pair) => Number(pair.number(3)))));
    if (changes.length > 0) {
      const changed = changes.map((pair) => keys.logical(pair.text(1))).filter((key) => key !== undefined);
      events.onChange({ keys: changed, revision: Number(last) });
    }
    // Of an answer in pieces the position counts with the last one.
    if (!message.flag(7)) move(watcher, changes.length > 0 ? last : revision);
  };

  return new Promise((resolve, reject) => {
    const finish = (error?: unknown): void => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      if (error === undefined) resolve();
      else
        reject(error instanceof BackendError ? error : new BackendError(messageOf(error), { cause: error }));
    };
    const stop = (): void => finish();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) return finish();
    stream.on("data", (bytes: Buffer) => {
      try {
        const message = decode(bytes);
        const revision = message.message(1).number(3);
        if (message.flag(3)) {
          const watcher = awaited.shift();
          if (watcher === undefined) throw new BackendError("etcd: an answer to nothing that was asked");
          if (message.flag(4)) onCanceled(watcher, message);
          else onCreated(watcher, message, revision);
          return;
        }
        const watcher = byId.get(message.number(2));
        if (watcher === undefined) return;
        if (message.flag(4)) onCanceled(watcher, message);
        else onEvents(watcher, message, revision);
      } catch (error) {
        finish(error);
      }
    });
    stream.once("error", finish);
    stream.once("end", () => finish(new BackendError("etcd ended the stream")));
    for (const watcher of watchers) create(watcher);
  });
}
