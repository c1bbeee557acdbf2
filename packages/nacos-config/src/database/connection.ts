/** One connection to PostgreSQL, for a piece of work that takes as long as its limit at most. */
import { isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import type pg from "pg";
import { type ByteAccount, type ByteBudget, type ByteLimits, createByteBudget } from "../budget.ts";
import { DatabaseError, databaseError, silentError, timeoutError } from "./errors.ts";
import { createFraming } from "./framing.ts";
import type { HostRules } from "./hosts.ts";
import type { PostgresTarget } from "./target.ts";

/** Shown in the server's list of sessions. */
const APPLICATION_NAME = "quartet";
/** What the client library says when a server declines TLS; it gives no code. */
const TLS_DECLINED = "The server does not support SSL connections";

/** What servers may send: the longest answer to any statement has some rows, a whole session less than 32 KiB. */
const RECEIVED: ByteLimits = { each: 524_288, total: 33_554_432, assured: 65_536 };

/** What all connections of the process share. */
export interface DatabaseLimits {
  readonly hosts: HostRules;
  readonly received: ByteBudget;
}

/** Limits of a process whose connections may go where the rules say. */
export function databaseLimits(hosts: HostRules): DatabaseLimits {
  return { hosts, received: createByteBudget(RECEIVED) };
}

/** An open connection. */
export interface Database {
  /**
   * Runs one statement with parameters `$1`… and resolves with its rows, or several without parameters and resolves
   * with none. Rejects with a {@link DatabaseError}.
   */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>;
  /** Runs `work` in a transaction: all of it takes effect, or nothing. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Connects, runs `work` and disconnects, all within the target's time limit.
 * @param signal ends everything at once; the promise then rejects with the signal's reason
 * @throws DatabaseError for everything that the network, the server or a statement did wrong
 */
export async function withDatabase<T>(
  target: PostgresTarget,
  limits: DatabaseLimits,
  signal: AbortSignal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.timeout: its timer, and all that hangs on it, would outlive the connection.
  const limit = new AbortController();
  const server = `${target.host}:${target.port}`;
  const ground: Ground = {
    target,
    limit: limit.signal,
    hosts: limits.hosts,
    account: limits.received.open(),
  };
  let connected = false;
  const expire = (): void =>
    limit.abort(connected ? timeoutError(target.timeoutMs) : silentError(server, target.timeoutMs));
  const timer = setTimeout(expire, target.timeoutMs);
  const onAbort = (): void => limit.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await session(ground, (database) => {
      connected = true;
      return work(database);
    });
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    throw databaseError(error, server);
  } finally {
    clearTimeout(timer);
    ground.account.close();
    signal.removeEventListener("abort", onAbort);
  }
}

/** What a connection stands on. */
interface Ground {
  readonly target: PostgresTarget;
  /** Ends everything. */
  readonly limit: AbortSignal;
  readonly hosts: HostRules;
  readonly account: ByteAccount;
}

async function session<T>(ground: Ground, work: (database: Database) => Promise<T>): Promise<T> {
  const { target, limit } = ground;
  const { client, socket } = await connect(ground);
  try {
    return await orAborted(work(databaseOf(client, target)), limit);
  } finally {
    // A server that is well says good-bye; no other is waited for.
    if (!limit.aborted) await orAborted(client.end(), limit).catch(() => {});
    socket.destroy();
  }
}

interface Connection {
  readonly client: pg.Client;
  readonly socket: Socket;
}

/** Connects as the TLS mode says: `prefer` does without TLS when, and only when, the server declines it. */
async function connect(ground: Ground): Promise<Connection> {
  const { target } = ground;
  try {
    return await open(ground, tlsOptions(target));
  } catch (error) {
    if (!(error instanceof Error) || error.message !== TLS_DECLINED) throw error;
    if (target.sslMode === "prefer") return await open(ground, false);
    const remedy = "enable it there, or lower spec.postgres.sslMode";
    throw new DatabaseError("TlsUnavailable", `the server offers no TLS; ${remedy}`);
  }
}

async function open(ground: Ground, ssl: ConnectionOptions | false): Promise<Connection> {
  const { target, limit } = ground;
  limit.throwIfAborted();
  const { host, port, database, user, password } = target;
  // Most installations have no PostgreSQL: what its client takes of memory comes with the first connection.
  const { default: pg } = await import("pg");
  limit.throwIfAborted();
  const socket = guardedSocket(ground, ssl !== false);
  let inClear = false;
  const client = new pg.Client({
    host,
    port,
    database,
    user,
    // As a function it is taken as it is: an empty text would be replaced from the environment.
    password: () => {
      if (inClear && !isTrusted(target)) throw cleartextError();
      return password;
    },
    ssl,
    stream: () => socket,
    application_name: APPLICATION_NAME,
  });
  // Errors that belong to no statement: the statement that comes next fails by itself.
  client.on("error", () => {});
  const { connection } = client;
  connection.on("authenticationCleartextPassword", () => {
    inClear = true;
  });
  connection.on("sslconnect", () => guard(connection.stream, ground, true));
  limit.addEventListener("abort", () => socket.destroy(), { once: true });
  try {
    await orAborted(client.connect(), limit);
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A socket that goes nowhere but where the rules allow, and reads no more than its share. */
function guardedSocket(ground: Ground, encrypted: boolean): Socket {
  const { target, hosts } = ground;
  const { host, port } = target;
  if (!hosts.mayAsk(host, port) || (isIP(host) !== 0 && !hosts.mayReach(host, host, port))) throw hostError();
  const socket = new Socket();
  // Each address that the name has; the one that is connected to is among them, whatever the name comes to later.
  socket.on("lookup", (_error, address) => {
    if (address && !hosts.mayReach(host, address, port)) socket.destroy(hostError());
  });
  // Before TLS there is one byte, which says whether the server knows it.
  guard(socket, ground, !encrypted);
  return socket;
}

/** Cuts off a server that sends too much, or what is no message; the client library gets whole messages alone. */
function guard(stream: Duplex, { account }: Ground, framed: boolean): void {
  const emit = stream.emit.bind(stream);
  const framing = createFraming();
  stream.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== "data") return emit(event, ...values);
    const chunk = values[0] as Buffer;
    try {
      if (!account.take(chunk.length)) throw new DatabaseError("AnswerTooLarge", TOO_MUCH);
      for (const message of framed ? framing(chunk) : [chunk]) emit("data", message);
    } catch (error) {
      stream.destroy(error as Error);
    }
    return true;
  };
}

const TOO_MUCH = "the server sends more than any PostgreSQL server does in answer; see to what listens there";

function hostError(): DatabaseError {
  const message = "spec.postgres.host and port name a server that the operator may not be sent to";
  return new DatabaseError("HostNotAllowed", `${message}; its flag --nacos-postgres-hosts says which it may`);
}

function cleartextError(): DatabaseError {
  const remedy = "set spec.postgres.sslMode to verify-full with a CA, or have the server use scram-sha-256";
  return new DatabaseError(
    "PasswordNotSent",
    `the server wants the password as it is, and nothing proves that it is the right server; ${remedy}`,
  );
}

/** The server's certificate is verified, or the spec does without by its own word. */
function isTrusted({ sslMode, caPem }: PostgresTarget): boolean {
  return (
    sslMode === "disable" || sslMode.startsWith("verify-") || (sslMode === "require" && caPem !== undefined)
  );
}

function tlsOptions({ sslMode, host, caPem }: PostgresTarget): ConnectionOptions | false {
  switch (sslMode) {
    case "disable":
      return false;
    case "prefer":
      return { rejectUnauthorized: false };
    case "require":
      // As in libpq: a CA that is given is used.
      return caPem === undefined ? { rejectUnauthorized: false } : byAuthority(caPem);
    case "verify-ca":
      return byAuthority(caPem);
    case "verify-full":
      // By default the name is not checked against an address.
      return { ca: caPem, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
  }
}

/** The certificate is of the CA; its name does not matter. */
function byAuthority(ca: string | undefined): ConnectionOptions {
  return { ca, checkServerIdentity: () => undefined };
}

function databaseOf(client: pg.Client, { host, port, timeoutMs }: PostgresTarget): Database {
  const query = async <R extends object>(text: string, values?: readonly unknown[]): Promise<R[]> => {
    try {
      const result = await client.query<R>(text, values === undefined ? undefined : [...values]);
      // Several statements have several results, whatever the types say.
      return Array.isArray(result) ? [] : result.rows;
    } catch (error) {
      throw databaseError(error, `${host}:${port}`);
    }
  };
  return {
    query,
    async transaction(work) {
      await query("begin");
      try {
        // The server gives up by itself: it would not notice that a client which waits for a lock has gone.
        await query(`set local statement_timeout = ${timeoutMs}`);
        const result = await work();
        await query("commit");
        return result;
      } catch (error) {
        await query("rollback").catch(() => {});
        throw error;
      }
    },
  };
}

/** The promise, or a rejection as soon as the signal aborts; what the promise comes to then is dropped. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  promise.catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
