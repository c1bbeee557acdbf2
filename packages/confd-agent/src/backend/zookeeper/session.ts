/** A session with a ZooKeeper server: its requests in their order, its signs of life, and the changes that it tells of. */
import { createConnection } from "node:net";
import { BackendError } from "../../errors.ts";
import { type JuteReader, type JuteWriter, juteFrames, juteReader, juteWriter } from "./jute.ts";

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface SessionOptions {
  readonly server: ServerAddress;
  /** Limit for the connection and the login, in milliseconds. */
  readonly dialTimeout: number;
  /** Limit for the answer to a request, in milliseconds: a session that owes one for longer is given up. */
  readonly answerTimeout: number;
  /** `USER:PASSWORD`, a byte string; empty for none. */
  readonly login: string;
  /** A node below a watched path was made, removed or written. */
  readonly onEvent: (path: string, kind: number) => void;
}

export interface Session {
  /** Sends a request; rejects with a {@link ZooKeeperError}, or when the connection is lost. */
  call(operation: number, write: (body: JuteWriter) => JuteWriter): Promise<JuteReader>;
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<Error>;
  isOpen(): boolean;
  /** Ends it once the requests that wait are answered. */
  end(): void;
}

/** Operations (ZooDefs.OpCode). */
export const EXISTS = 3;
export const GET_DATA = 4;
export const SYNC = 9;
export const GET_CHILDREN = 8;
export const ADD_WATCH = 106;
const PING = 11;
const AUTH = 100;
const CLOSE = -11;
/** Numbers of requests that are not counted, and of what nobody asked for. */
const EVENT_XID = -1;
const PING_XID = -2;
const AUTH_XID = -4;

/** What the server says (KeeperException.Code). */
export const UNIMPLEMENTED = -6;
export const NO_NODE = -101;
export const NO_AUTH = -102;
const AUTH_FAILED = -115;
const WORDS: Readonly<Record<number, string>> = {
  [UNIMPLEMENTED]: "not implemented",
  [NO_NODE]: "no such node",
  [NO_AUTH]: "not authorized",
  [AUTH_FAILED]: "the login is refused",
  [-112]: "the session has expired",
};

export class ZooKeeperError extends Error {
  override readonly name = "ZooKeeperError";
  readonly code: number;
  constructor(code: number) {
    super(WORDS[code] ?? `error ${code}`);
    this.code = code;
  }
}

/** A session without any sign of life ends after this, in milliseconds; the server may wish for another time. */
const SESSION_MS = 12_000;
const SHORTEST_MS = 1000;
/** Longest answer, in bytes. A server's own limit for a node is 1 MiB; lists of children may be longer. */
const LONGEST = 32 * 1024 * 1024;
const PASSWORD_BYTES = 16;
const LAST_XID = 0x7fffffff;

interface Waiting {
  /** When it was sent (monotonic milliseconds). */
  readonly since: number;
  readonly resolve: (body: JuteReader) => void;
  readonly reject: (error: Error) => void;
}

/** Opens a session and logs in; then the server has caught up with what the others had by now. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { server, dialTimeout, answerTimeout, login, onEvent } = options;
  const socket = createConnection({ ...server, noDelay: true });
  const ended = Promise.withResolvers<Error>();
  const greeted = Promise.withResolvers<number>();
  greeted.promise.catch(() => {});
  const waiting = new Map<number, Waiting>();
  let isOpen = true;
  let isGreeted = false;
  let isEnding = false;
  let xid = 0;
  let alive: NodeJS.Timeout | undefined;
  let silence: NodeJS.Timeout | undefined;

  const close = (error: Error, leave: () => void): void => {
    if (!isOpen) return;
    isOpen = false;
    clearTimeout(dial);
    clearTimeout(silence);
    clearInterval(alive);
    leave();
    greeted.reject(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    ended.resolve(error);
  };
  const lose = (error: Error): void => close(error, () => socket.destroy());
  const dial = setTimeout(
    () => lose(new BackendError(`no connection within ${dialTimeout / 1000}s`)),
    dialTimeout,
  );
  const send = (number: number, operation: number, write: (body: JuteWriter) => JuteWriter) =>
    new Promise<JuteReader>((resolve, reject) => {
      if (!isOpen) return reject(new BackendError("the connection is lost"));
      waiting.set(number, { since: performance.now(), resolve, reject });
      socket.write(write(juteWriter().int(number).int(operation)).frame());
    });
  const call: Session["call"] = (operation, write) => {
    if (isEnding) return Promise.reject(new BackendError("the session ends"));
    xid = xid === LAST_XID ? 1 : xid + 1;
    return send(xid, operation, write);
  };
  const endWhenIdle = (): void => {
    if (!isEnding || waiting.size > 0 || !isOpen) return;
    const farewell = juteWriter().int(0).int(CLOSE).frame();
    close(new BackendError("the session has ended"), () => socket.end(farewell, () => socket.destroy()));
  };
  const take = (message: Buffer): void => {
    const body = juteReader(message);
    if (!isGreeted) {
      isGreeted = true;
      body.int();
      greeted.resolve(body.int());
      return;
    }
    const number = body.int();
    // Position of the store: reads of other servers would have to be compared with it.
    body.long();
    const code = body.int();
    if (number === EVENT_XID) {
      const kind = body.int();
      body.int();
      onEvent(body.bytes(), kind);
      return;
    }
    const request = waiting.get(number);
    if (request === undefined) throw new BackendError("zookeeper: an answer to no request");
    waiting.delete(number);
    if (code === 0) request.resolve(body);
    else request.reject(new ZooKeeperError(code));
    endWhenIdle();
  };
  const frames = juteFrames(LONGEST);
  socket.on("data", (chunk) => {
    silence?.refresh();
    try {
      for (const message of frames(chunk)) if (isOpen) take(message);
    } catch (error) {
      lose(error as Error);
    }
  });
  socket.on("error", (error) => lose(error));
  socket.on("close", () => lose(new BackendError("the connection is lost")));
  socket.write(greeting());
  try {
    const agreed = await greeted.promise;
    if (agreed <= 0) throw new BackendError("the server refuses the session");
    if (!isOpen) throw new BackendError("the connection is lost");
    const third = Math.min(Math.max(agreed, SHORTEST_MS), SESSION_MS) / 3;
    const giveUp = (): void => lose(new BackendError("the server does not answer any more"));
    silence = setTimeout(giveUp, 2 * third);
    alive = setInterval(() => {
      // Signs of life are no answers: whoever waits for one would do so for ever.
      const [oldest] = waiting.values();
      if (oldest !== undefined && performance.now() - oldest.since > answerTimeout) return giveUp();
      if (!waiting.has(PING_XID)) send(PING_XID, PING, (body) => body).catch(() => {});
    }, third);
    if (login !== "") await send(AUTH_XID, AUTH, (body) => body.int(0).bytes("digest").bytes(login));
    await call(SYNC, (body) => body.bytes("/"));
    clearTimeout(dial);
  } catch (error) {
    lose(error as Error);
    throw error;
  }
  return {
    call,
    ended: ended.promise,
    isOpen: () => isOpen && !isEnding,
    end: () => {
      isEnding = true;
      endWhenIdle();
    },
  };
}

/** A new session: nothing is taken over from an older one. */
const greeting = (): Buffer =>
  juteWriter()
    .int(0)
    .long(0n)
    .int(SESSION_MS)
    .long(0n)
    .bytes("\0".repeat(PASSWORD_BYTES))
    .flag(false)
    .frame();
