/** One connection to PostgreSQL, for a piece of work that takes as long as its limit at most. */
import { Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import pg from "pg";
import { DatabaseError, databaseError, timeoutError } from "./errors.ts";
import type { PostgresTarget } from "./target.ts";

/** Shown in the server's list of sessions. */
const APPLICATION_NAME = "quartet";
/** What the client library says when a server declines TLS; it gives no code. */
const TLS_DECLINED = "The server does not support SSL connections";

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
  signal: AbortSignal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.timeout: its timer, and all that hangs on it, would outlive the connection.
  const limit = new AbortController();
  const expired = timeoutError(target.timeoutMs);
  const timer = setTimeout(() => limit.abort(expired), target.timeoutMs);
  const onAbort = (): void => limit.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await session(target, limit.signal, work);
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    throw databaseError(error, `${target.host}:${target.port}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function session<T>(
  target: PostgresTarget,
  limit: AbortSignal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { client, socket } = await connect(target, limit);
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
async function connect(target: PostgresTarget, limit: AbortSignal): Promise<Connection> {
  const options = tlsOptions(target);
  try {
    return await open(target, options, limit);
  } catch (error) {
    if (!(error instanceof Error) || error.message !== TLS_DECLINED) throw error;
    if (target.sslMode === "prefer") return await open(target, false, limit);
    const remedy = "enable it there, or lower spec.postgres.sslMode";
    throw new DatabaseError("TlsUnavailable", `the server offers no TLS; ${remedy}`);
  }
}

async function open(
  target: PostgresTarget,
  ssl: ConnectionOptions | false,
  limit: AbortSignal,
): Promise<Connection> {
  limit.throwIfAborted();
  const socket = new Socket();
  const { host, port, database, user, password } = target;
  const client = new pg.Client({
    host,
    port,
    database,
    user,
    // As a function it is taken as it is: an empty text would be replaced from the environment.
    password: () => password,
    ssl,
    stream: () => socket,
    application_name: APPLICATION_NAME,
  });
  // Errors that belong to no statement: the statement that comes next fails by itself.
  client.on("error", () => {});
  limit.addEventListener("abort", () => socket.destroy(), { once: true });
  try {
    await orAborted(client.connect(), limit);
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  }
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
