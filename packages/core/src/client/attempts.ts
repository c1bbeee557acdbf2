/** Sends one request until it has an answer worth handing out: credentials, rate limit, repeats, reports. */
import { type Clock, sleep } from "../clock.ts";
import type { TokenBucket } from "../token-bucket.ts";
import type { PoolName, Pools } from "./agents.ts";
import type { Connection, Credentials } from "./connection.ts";
import type { ExchangeFailure, HttpReply, HttpRequest } from "./exchange.ts";
import type { ClientObserver } from "./observer.ts";
import { newTrail, nextStep, type Repeatable, type Step, type Trail } from "./retry.ts";

/** Limit of a whole request. CORE-109. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Cause of a read at a resource version that this server has not seen. It comes with a Retry-After, but after 3 s of
 * waiting on the server's side each time; the caller has the better answer: to read the newest version (CORE-167).
 */
const AHEAD_OF_SERVER = '"ResourceVersionTooLarge"';

/** A request in the client's terms. */
export interface ApiRequest {
  /** Kubernetes verb, for reports. */
  verb: string;
  method: string;
  /** Path with query. */
  path: string;
  pool: PoolName;
  accept: string;
  userAgent: string;
  body?: string | undefined;
  contentType?: string;
  /** What may be repeated after a reset. */
  repeatable: Repeatable;
  signal?: AbortSignal | undefined;
  /** Limit of each attempt. */
  timeoutMs?: number | undefined;
  /** Longest body of the answer in bytes. */
  maxBytes?: number | undefined;
  /**
   * Called before each time the request is sent, and again when its connection is ready; throwing keeps it from being
   * sent.
   */
  beforeSend?: (() => void) | undefined;
  /** Takes the texts of a `Warning` header; absent: they are logged. */
  onWarning?: ((text: string) => void) | undefined;
}

/** All that leads to the server. */
export interface Link {
  readonly connection: Connection;
  readonly pools: Pools;
  readonly clock: Clock;
  readonly limiter: TokenBucket | undefined;
  readonly observer: ClientObserver | undefined;
  readonly compression: boolean;
  /** Limit of requests in the lease pool, in milliseconds. */
  readonly leaseTimeoutMs: number;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
}

/** An answer with the credentials that it was given to. */
export interface Answered<T> {
  reply: T;
  credentials: Credentials;
}

/** Attempts by `run` until one has an answer that is not worth a repeat. */
export async function sendWithRepeats<T extends HttpReply>(
  link: Link,
  request: ApiRequest,
  run: (http: HttpRequest) => Promise<T>,
): Promise<Answered<T>> {
  const { connection, closed } = link;
  const trail = newTrail(request.repeatable);
  for (;;) {
    if (link.limiter !== undefined) await throttle(link, link.limiter, request);
    const pending = connection.credentials();
    const credentials = pending instanceof Promise ? await pending : pending;
    if (closed.aborted) throw closed.reason;
    const outcome = await attempt(link, request, credentials, run);
    if (closed.aborted) throw closed.reason;
    const step = stepAfter(outcome, trail, request, connection.refresh !== undefined);
    if (step.action === "return") {
      if ("reply" in outcome) return { reply: outcome.reply, credentials };
      throw outcome.failure.error;
    }
    const code = "reply" in outcome ? String(outcome.reply.code) : "<error>";
    link.observer?.onRetry?.({ ...labels(link, request), code });
    if (step.action === "refresh") await connection.refresh?.(credentials);
    else await sleep(link.clock, step.ms, either(request.signal, closed));
  }
}

type Outcome<T> = { reply: T } | { failure: ExchangeFailure };

function stepAfter(
  outcome: Outcome<HttpReply & { text?: string }>,
  trail: Trail,
  request: ApiRequest,
  refreshable: boolean,
): Step {
  if (request.signal?.aborted) return { action: "return" };
  if ("failure" in outcome) return nextStep(trail, outcome);
  const { code, headers, text } = outcome.reply;
  if (code === 504 && text?.includes(AHEAD_OF_SERVER)) return { action: "return" };
  return nextStep(trail, { code, retryAfter: headers["retry-after"], refreshable });
}

/** Sends the request once and reports it. */
async function attempt<T extends HttpReply>(
  link: Link,
  request: ApiRequest,
  credentials: Credentials,
  run: (http: HttpRequest) => Promise<T>,
): Promise<Outcome<T>> {
  request.beforeSend?.();
  const startedAt = link.clock.monotonic();
  let outcome: Outcome<T>;
  try {
    outcome = { reply: await run(httpRequest(link, request, credentials)) };
  } catch (failure) {
    if (!isFailure(failure)) throw failure;
    outcome = { failure };
  }
  link.observer?.onRequest?.({
    ...labels(link, request),
    code: "reply" in outcome ? String(outcome.reply.code) : "<error>",
    seconds: (link.clock.monotonic() - startedAt) / 1000,
    requestBytes: request.body === undefined ? 0 : Buffer.byteLength(request.body),
    responseBytes: "reply" in outcome ? outcome.reply.bytes : 0,
  });
  return outcome;
}

/** Leases are not held up: waiting for the own rate limit must not cost the leadership. */
async function throttle(link: Link, limiter: TokenBucket, request: ApiRequest): Promise<void> {
  if (request.pool === "leases") return;
  const ms = await limiter.take(either(request.signal, link.closed));
  link.observer?.onRateLimited?.({ ...labels(link, request), seconds: ms / 1000 });
}

function httpRequest(link: Link, request: ApiRequest, credentials: Credentials): HttpRequest {
  const { server } = link.connection;
  return {
    server,
    agent: link.pools.agent(request.pool, credentials.tls, request.userAgent),
    method: request.method,
    path: server.pathname === "/" ? request.path : server.pathname.replace(/\/$/, "") + request.path,
    headers: headersOf(link, request, credentials),
    body: request.body,
    timeoutMs: timeoutOf(link, request),
    maxBytes: request.maxBytes,
    signal: request.signal,
    beforeSend: request.beforeSend,
  };
}

function timeoutOf(link: Link, request: ApiRequest): number | undefined {
  if (request.timeoutMs !== undefined) return request.timeoutMs;
  if (request.pool === "watches") return undefined;
  return request.pool === "leases" ? link.leaseTimeoutMs : REQUEST_TIMEOUT_MS;
}

function headersOf(link: Link, request: ApiRequest, credentials: Credentials): HttpRequest["headers"] {
  const headers: HttpRequest["headers"] = {
    accept: request.accept,
    "user-agent": request.userAgent,
    ...credentials.headers,
  };
  if (link.compression && request.pool !== "watches") headers["accept-encoding"] = "gzip";
  if (request.body !== undefined) {
    headers["content-type"] = request.contentType ?? "application/json";
    // Node leaves it out for a DELETE, and the body would be read as the next request.
    headers["content-length"] = String(Buffer.byteLength(request.body));
  }
  return headers;
}

function labels(link: Link, request: ApiRequest): { verb: string; method: string; host: string } {
  return { verb: request.verb, method: request.method, host: link.connection.server.host };
}

function either(a: AbortSignal | undefined, b: AbortSignal): AbortSignal {
  return a === undefined ? b : AbortSignal.any([a, b]);
}

function isFailure(value: unknown): value is ExchangeFailure {
  return typeof value === "object" && value !== null && "reusedSocket" in value;
}
