/** Follows ranges of etcd over one stream, and goes on from where it was after an interruption. */
import { BackendError, messageOf } from "../../errors.ts";
import { type Backend, belongs, type WatchEvents } from "../backend.ts";
import { type EtcdConnection, isAuthError } from "./connection.ts";
import type { Interval, Keys } from "./keys.ts";
import type { Change, Mirror } from "./mirror.ts";
import { askPosition } from "./position.ts";
import { decode, encode, type Message } from "./wire.ts";

const WATCH = "/etcdserverpb.Watch/Watch";
/** Pause before a refused interval is asked for again, in milliseconds. */
const REFUSED_RETRY_MS = 30_000;

/** What is known of a watched interval. */
interface Watcher {
  /** The range that it is for. */
  readonly range: string;
  readonly interval: Interval;
  /** The interval holds the range and its neighbours: the whole range is told of in order. */
  readonly isSpan: boolean;
  /** Changes up to here were told. */
  position: bigint | undefined;
  /** It began anew: what was before is not known. */
  anew: boolean;
  created: boolean;
  /** The server has told that it will not be watched for now. */
  refused: boolean;
}

/** Makes the watch function of a backend; it remembers positions between its calls. */
export function createEtcdWatch(
  connection: EtcdConnection,
  keys: Keys,
  mirror: Mirror,
): NonNullable<Backend["watch"]> {
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
    const header = await askPosition(
      connection,
      ranges.flatMap((range) => keys.intervals(range)),
      signal,
    );
    if (header !== undefined) checkHistory(header, events);
    const stream = await connection.stream(WATCH, signal);
    try {
      await followStream(stream, ranges, { events, signal, keys, positions, mirror });
    } catch (error) {
      if (isAuthError(error)) connection.forgetToken();
      if (!signal.aborted) connection.leave();
      throw error;
    } finally {
      for (const range of ranges) mirror.stop(range);
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
  readonly mirror: Mirror;
}

type Stream = Awaited<ReturnType<EtcdConnection["stream"]>>;

function followStream(stream: Stream, ranges: readonly string[], options: FollowOptions): Promise<void> {
  const { events, signal, keys, positions, mirror } = options;
  const newWatcher = (range: string, interval: Interval, isSpan: boolean): Watcher => ({
    range,
    interval,
    isSpan,
    position: positions.get(idOf(interval)),
    anew: !positions.has(idOf(interval)),
    created: false,
    refused: false,
  });
  const watchers = new Set(ranges.map((range) => newWatcher(range, keys.span(range), true)));
  const awaited: Watcher[] = [];
  const byId = new Map<bigint, Watcher>();
  const timers = new Set<NodeJS.Timeout>();
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
    if (isReady || ![...watchers].every(({ created, refused }) => created || refused)) return;
    isReady = true;
    events.onReady({ resumed: ![...watchers].some(({ anew }) => anew) });
  };
  /** Begins to watch an interval anew from now; what was in between has to be read. */
  const createAnew = (watcher: Watcher): void => {
    watcher.position = undefined;
    watcher.anew = true;
    watcher.created = false;
    positions.delete(idOf(watcher.interval));
    mirror.stop(watcher.range);
    create(watcher);
  };
  /** Watches what belongs to the range alone: the user may not see its neighbours. */
  const split = (watcher: Watcher): void => {
    watchers.delete(watcher);
    mirror.stop(watcher.range);
    for (const interval of keys.intervals(watcher.range)) {
      const part = newWatcher(watcher.range, interval, false);
      watchers.add(part);
      create(part);
    }
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
    if (watcher.isSpan) mirror.start(watcher.range, Number(watcher.position ?? 0n));
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
      createAnew(watcher);
    } else if (watcher.isSpan && reason.includes("permission denied")) split(watcher);
    else if (reason.includes("permission denied")) refuse(watcher, "permission denied");
    else throw new BackendError(`etcd ended the watch: ${reason || "no reason given"}`);
  };
  const onEvents = (watcher: Watcher, message: Message, revision: bigint): void => {
    const changes = message.messages(11).map((event) => changeOf(event, keys));
    const isLast = !message.flag(7);
    const own = changes.filter(({ key }) => key !== "" && belongs(key, watcher.range));
    if (watcher.isSpan) mirror.apply(watcher.range, own, isLast);
    const last = changes.reduce((highest, change) => Math.max(highest, change.revision), 0);
    if (own.length > 0) events.onChange({ keys: own.map(({ key }) => key), revision: last });
    // Of an answer in pieces the position counts with the last one.
    if (isLast) move(watcher, changes.length > 0 ? BigInt(last) : revision);
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

/** What an event says; the key is empty when it has no logical one. */
function changeOf(event: Message, keys: Keys): Change {
  const pair = event.message(2);
  return {
    key: keys.logical(pair.text(1)) ?? "",
    value: event.flag(1) ? undefined : pair.text(5),
    revision: Number(pair.number(3)),
  };
}
