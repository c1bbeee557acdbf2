/** Sends requests to the API server and judges the answers; knows HTTP and the server's habits, not kinds. */
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { createTokenBucket } from "../token-bucket.ts";
import { createPools } from "./agents.ts";
import { type Answered, type ApiRequest, type Link, sendWithRepeats } from "./attempts.ts";
import type { Connection, Credentials } from "./connection.ts";
import {
  describe,
  type ExchangeFailure,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  type HttpStream,
  openStream,
} from "./exchange.ts";
import type { ClientObserver } from "./observer.ts";
import { errorFromAnswer } from "./status-error.ts";
import { createWarnings, type Warnings } from "./warnings.ts";

/** max(1 s, renewDeadline / 2) with the default renew deadline of 10 s. CORE-108. */
const LEASE_TIMEOUT_MS = 5_000;

export interface RequesterOptions {
  connection: Connection;
  clock: Clock;
  /** Requests per second; 0 and less set no limit. */
  qps: number;
  burst: number;
  compression: boolean;
  log: Logger | undefined;
  observer: ClientObserver | undefined;
  /** Limit of requests in the lease pool, in milliseconds. Default 5 000. */
  leaseTimeoutMs?: number | undefined;
}

export interface Requester {
  /** The answer of a request that succeeded. Rejects with `ApiError` for codes other than 2xx. */
  send(request: ApiRequest): Promise<HttpAnswer>;
  /** Opens a stream; same errors as {@link Requester.send}. There is no limit on how long it runs. */
  open(request: ApiRequest): Promise<HttpStream>;
  /** Destroys all sockets; requests on their way reject. */
  close(): void;
}

/** Builds the part of a client that all its controllers share. */
export function createRequester(options: RequesterOptions): Requester {
  const { connection, clock, log, observer } = options;
  const closing = new AbortController();
  const link: Link = {
    connection,
    clock,
    observer,
    pools: createPools({ server: connection.server, proxy: connection.proxy, clock }),
    limiter: options.qps > 0 ? createTokenBucket(options.qps, options.burst, clock) : undefined,
    compression: options.compression,
    leaseTimeoutMs: options.leaseTimeoutMs ?? LEASE_TIMEOUT_MS,
    closed: closing.signal,
  };
  const warnings = createWarnings(log, observer);
  const whole = (http: HttpRequest): Promise<HttpAnswer> => exchange(http, clock);
  const streamed = (http: HttpRequest): Promise<HttpStream | HttpAnswer> => streamOrRefusal(http, clock);

  return {
    async send(request) {
      const { reply, credentials } = accepted(await sendWithRepeats(link, request, whole), request, warnings);
      if (!isSuccess(reply.code)) throw refusal(request, reply, credentials);
      return reply;
    },
    async open(request) {
      const answered = await sendWithRepeats(link, request, streamed);
      const { reply, credentials } = accepted(answered, request, warnings);
      if ("text" in reply) throw refusal(request, reply, credentials);
      return reply;
    },
    close() {
      closing.abort(new Error("the client is closed"));
      link.pools.close();
    },
  };
}

/** Takes note of warnings, which come with successes and refusals alike. */
function accepted<T extends { headers: HttpAnswer["headers"] }>(
  answered: Answered<T>,
  { onWarning }: ApiRequest,
  warnings: Warnings,
): Answered<T> {
  const { warning } = answered.reply.headers;
  if (warning !== undefined) warnings.take(warning, onWarning);
  return answered;
}

/** Redirects are none: the API server sends them for malformed paths only, other servers to their login page. */
function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

/** A refused stream is read to its end, so that it can be judged like any other answer. */
async function streamOrRefusal(http: HttpRequest, clock: Clock): Promise<HttpStream | HttpAnswer> {
  const stream = await openStream(http, clock);
  if (isSuccess(stream.code)) return stream;
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of stream.response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return { code: stream.code, headers: stream.headers, text: bytes.toString("utf8"), bytes: bytes.length };
  } catch (error) {
    throw { error: describe(error, http), reusedSocket: false } satisfies ExchangeFailure;
  }
}

function refusal(request: ApiRequest, answer: HttpAnswer, credentials: Credentials): Error {
  const failed = {
    code: answer.code,
    text: answer.text,
    retryAfter: answer.headers["retry-after"],
    method: request.method,
    path: request.path.split("?", 1)[0] ?? "",
  };
  return errorFromAnswer(failed, secretsOf(credentials));
}

/** Texts of the credentials that an answer could echo. */
function secretsOf(credentials: Credentials): string[] {
  const { authorization } = credentials.headers;
  if (typeof authorization !== "string") return [];
  return [authorization, authorization.slice(authorization.indexOf(" ") + 1)];
}
