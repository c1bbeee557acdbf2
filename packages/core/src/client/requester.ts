/** Sends requests with credentials, limits, repeats and reports; knows HTTP and the API server's habits, not kinds. */
import type { OutgoingHttpHeaders } from "node:http";
import { type Clock, sleep } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { createPools, type PoolName } from "./agents.ts";
import type { Connection, Credentials } from "./connection.ts";
import { CredentialsError } from "./errors.ts";
import {
  type ExchangeFailure,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  type HttpStream,
  openStream,
} from "./exchange.ts";
import type { ClientObserver } from "./observer.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { newTrail, nextStep, type Repeatable } from "./retry.ts";
import { errorFromAnswer } from "./status-error.ts";
import { createWarnings } from "./warnings.ts";

/** Limit of a whole request, client-go's usual `--request-timeout` for controllers. CORE-109. */
const REQUEST_TIMEOUT_MS = 60_000;
/** max(1 s, renewDeadline / 2) with the default renew deadline of 10 s. CORE-108. */
const LEASE_TIMEOUT_MS = 5_000;

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
  timeoutMs?: number | undefined;
  /** Called right before each time the request is sent; throwing keeps it from being sent. */
  beforeSend?: (() => void) | undefined;
}

export interface RequesterOptions {
  connection: Connection;
  clock: Clock;
  qps: number;
  burst: number;
  compression: boolean;
  log: Logger | undefined;
  observer: ClientObserver | undefined;
  /** Limit of requests in the lease pool. Default 5 000. */
  leaseTimeoutMs?: number | undefined;
}

export interface Requester {
  /** The answer of a request that succeeded. Rejects with `ApiError` for codes of 400 and more. */
  send(request: ApiRequest): Promise<HttpAnswer>;
  /** Opens a stream; same errors as {@link Requester.send}. There is no limit on how long it runs. */
  open(request: ApiRequest): Promise<HttpStream>;
  close(): void;
}

/** Builds the part of a client that all its controllers share. */
export function createRequester(options: RequesterOptions): Requester {
  const { connection, clock, observer } = options;
  const pools = createPools({ server: connection.server, proxy: connection.proxy, clock });
  const limiter = options.qps > 0 ? createRateLimiter(options.qps, options.burst, clock) : undefined;
  const warnings = createWarnings(options.log, observer);
  const closed = new AbortController();
  const host = connection.server.host;
  const basePath = connection.server.pathname.replace(/\/$/, "");

  const httpRequest = (request: ApiRequest, credentials: Credentials): HttpRequest => ({
    server: connection.server,
    agent: pools.agent(request.pool, credentials.tls),
    method: request.method,
    path: basePath + request.path,
    headers: headersOf(request, credentials, options.compression),
    body: request.body,
    timeoutMs: timeoutOf(request, options.leaseTimeoutMs ?? LEASE_TIMEOUT_MS),
    signal: request.signal,
  });

  const throttle = async (request: ApiRequest): Promise<void> => {
    if (limiter === undefined || request.pool === "leases") return;
    const seconds = await limiter.take(either(request.signal, closed.signal));
    observer?.onRateLimited?.({ verb: request.verb, method: request.method, host, seconds });
  };

  const report = (request: ApiRequest, code: string, startedAt: number, responseBytes: number): void => {
    observer?.onRequest?.({
      verb: request.verb,
      method: request.method,
      host,
      code,
      seconds: (clock.monotonic() - startedAt) / 1000,
      requestBytes: request.body === undefined ? 0 : Buffer.byteLength(request.body),
      responseBytes,
    });
  };

  /** One attempt with its report. */
  const attempt = async <T>(
    request: ApiRequest,
    credentials: Credentials,
    run: (http: HttpRequest) => Promise<T>,
    outcome: (result: T) => { code: number; bytes: number },
  ): Promise<T> => {
    request.beforeSend?.();
    const startedAt = clock.monotonic();
    try {
      const result = await run(httpRequest(request, credentials));
      const { code, bytes } = outcome(result);
      report(request, String(code), startedAt, bytes);
      return result;
    } catch (failure) {
      report(request, "<error>", startedAt, 0);
      throw failure;
    }
  };

  /** Attempts until there is an answer that is not worth a repeat. */
  const attempts = async <T>(
    request: ApiRequest,
    run: (http: HttpRequest) => Promise<T>,
    outcome: (result: T) => { code: number; bytes: number; answer: HttpAnswer | undefined },
  ): Promise<{ result: T; credentials: Credentials }> => {
    const trail = newTrail();
    for (;;) {
      if (limiter !== undefined) await throttle(request);
      const pending = connection.credentials();
      const credentials = pending instanceof Promise ? await pending : pending;
      if (closed.signal.aborted) throw closed.signal.reason;
      let step: ReturnType<typeof nextStep>;
      try {
        const result = await attempt(request, credentials, run, outcome);
        const { code, answer } = outcome(result);
        step = nextStep(trail, request.repeatable, { code, retryAfter: answer?.headers["retry-after"] });
        if (step.action === "return") return { result, credentials };
        if (step.action === "refresh") {
          if (connection.refresh === undefined) return { result, credentials };
          await connection.refresh(credentials);
        }
        observer?.onRetry?.({ verb: request.verb, method: request.method, host, code: String(code) });
      } catch (caught) {
        if (closed.signal.aborted) throw closed.signal.reason;
        if (!isFailure(caught)) throw caught;
        step = request.signal?.aborted
          ? { action: "return" }
          : nextStep(trail, request.repeatable, { failure: caught });
        if (step.action === "return") throw caught.error;
        observer?.onRetry?.({ verb: request.verb, method: request.method, host, code: "<error>" });
      }
      if (step.action === "wait") await sleep(clock, step.ms, either(request.signal, closed.signal));
    }
  };

  const refused = (request: ApiRequest, answer: HttpAnswer, credentials: Credentials): Error => {
    const failed = {
      code: answer.code,
      text: answer.text,
      retryAfter: answer.headers["retry-after"],
      method: request.method,
      path: request.path.split("?", 1)[0] ?? "",
    };
    return errorFromAnswer(failed, secretsOf(credentials));
  };

  return {
    async send(request) {
      const run = (http: HttpRequest): Promise<HttpAnswer> => exchange(http, clock);
      const outcome = (answer: HttpAnswer) => ({ code: answer.code, bytes: answer.bytes, answer });
      const { result, credentials } = await attempts(request, run, outcome);
      if (result.headers.warning !== undefined) warnings.take(result.headers.warning);
      if (result.code >= 400) throw refused(request, result, credentials);
      return result;
    },
    async open(request) {
      // A refused watch is read to its end, so that it can be judged like any other answer.
      const run = async (http: HttpRequest): Promise<HttpStream | HttpAnswer> => {
        const stream = await openStream(http, clock);
        const code = stream.response.statusCode ?? 0;
        return code < 400 ? stream : await readRefusal(stream, code);
      };
      const outcome = (result: HttpStream | HttpAnswer) =>
        "response" in result
          ? { code: result.response.statusCode ?? 0, bytes: 0, answer: undefined }
          : { code: result.code, bytes: result.bytes, answer: result };
      const { result, credentials } = await attempts(request, run, outcome);
      if (!("response" in result)) throw refused(request, result, credentials);
      const warning = result.response.headers.warning;
      if (warning !== undefined) warnings.take(warning);
      return result;
    },
    close() {
      closed.abort(new Error("the client is closed"));
      pools.close();
    },
  };
}

async function readRefusal(stream: HttpStream, code: number): Promise<HttpAnswer> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of stream.response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return { code, headers: stream.response.headers, text: bytes.toString("utf8"), bytes: bytes.length };
  } catch (error) {
    throw { error, reusedSocket: false } satisfies ExchangeFailure;
  }
}

function timeoutOf(request: ApiRequest, leaseTimeoutMs: number): number | undefined {
  if (request.timeoutMs !== undefined) return request.timeoutMs;
  if (request.pool === "watches") return undefined;
  return request.pool === "leases" ? leaseTimeoutMs : REQUEST_TIMEOUT_MS;
}

function headersOf(
  request: ApiRequest,
  credentials: Credentials,
  compression: boolean,
): Record<string, string | string[]> & OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {
    accept: request.accept,
    "user-agent": request.userAgent,
    ...(credentials.headers as Record<string, string | string[]>),
  };
  if (compression && request.pool !== "watches") headers["accept-encoding"] = "gzip";
  if (request.body !== undefined) {
    headers["content-type"] = request.contentType ?? "application/json";
    // Node leaves it out for a DELETE, and the body would be read as the next request.
    headers["content-length"] = String(Buffer.byteLength(request.body));
  }
  return headers;
}

/** Texts of the credentials that an answer could echo. */
function secretsOf(credentials: Credentials): string[] {
  const authorization = credentials.headers.authorization;
  if (typeof authorization !== "string") return [];
  return [authorization, authorization.slice(authorization.indexOf(" ") + 1)];
}

function either(a: AbortSignal | undefined, b: AbortSignal): AbortSignal {
  return a === undefined ? b : AbortSignal.any([a, b]);
}

function isFailure(value: unknown): value is ExchangeFailure {
  return (
    typeof value === "object" &&
    value !== null &&
    "reusedSocket" in value &&
    !(value instanceof CredentialsError)
  );
}
