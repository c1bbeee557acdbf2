/** One HTTP exchange over a given agent: no repeats, no decoding. */
import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import type { Clock } from "../clock.ts";
import { ConnectionError } from "./errors.ts";

/** Code of the error for an answer that is longer than the request allows. */
export const TOO_LARGE: string = "EMSGSIZE";

/** A request ready to be sent. */
export interface HttpRequest {
  server: URL;
  agent: Agent;
  method: string;
  /** Path with query. */
  path: string;
  headers: Record<string, string | readonly string[]>;
  body: string | undefined;
  /** Limit of the whole exchange; `undefined` for none. */
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
  /** Longest body that is read whole, in bytes, unpacked as well; beyond it the exchange fails with `EMSGSIZE`. */
  maxBytes?: number | undefined;
  /**
   * Called on a connection that is ready, right before the first byte is sent; what it throws ends the exchange as it is.
   * Until then a request may have waited long: for a free socket, or for a connection.
   */
  beforeSend?: (() => void) | undefined;
}

/** What every answer has. */
export interface HttpReply {
  code: number;
  headers: IncomingMessage["headers"];
  /** Length of the body as received; 0 for a stream. */
  bytes: number;
}

/** A whole answer. */
export interface HttpAnswer extends HttpReply {
  text: string;
}

/** Why an exchange failed: `reusedSocket` tells that it met a socket which had been idle before. */
export interface ExchangeFailure {
  error: unknown;
  reusedSocket: boolean;
}

/** Sends a request and reads the whole answer. Rejects with {@link ExchangeFailure}, or with what `beforeSend` threw. */
export function exchange(request: HttpRequest, clock: Clock): Promise<HttpAnswer> {
  return start(request, clock, (response, settle) => {
    const chunks: Buffer[] = [];
    const { maxBytes } = request;
    let received = 0;
    response.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (maxBytes !== undefined && received > maxBytes) response.destroy(tooLarge(request));
      else chunks.push(chunk);
    });
    response.once("end", () => {
      const bytes = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      try {
        const text = textOf(bytes, response.headers["content-encoding"], request);
        settle({ code: response.statusCode ?? 0, headers: response.headers, text, bytes: bytes.length });
      } catch (error) {
        response.destroy(error as Error);
      }
    });
  });
}

function textOf(bytes: Buffer, encoding: string | undefined, request: HttpRequest): string {
  if (encoding !== "gzip") return bytes.toString("utf8");
  try {
    return gunzipSync(bytes, { maxOutputLength: request.maxBytes }).toString("utf8");
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(request) : error;
  }
}

function tooLarge({ method, path, maxBytes = 0 }: HttpRequest): ConnectionError {
  const message = `the answer is longer than ${maxBytes} bytes`;
  return new ConnectionError({ code: TOO_LARGE, message, method, path: path.split("?", 1)[0] ?? path });
}

/** An answer whose body is read by the caller. */
export interface HttpStream extends HttpReply {
  response: IncomingMessage;
  /** Ends the exchange: destroys the socket unless the body was read to its end. */
  close(): void;
}

/** Sends a request and hands over the answer as soon as its head arrived. Rejects with {@link ExchangeFailure}. */
export function openStream(request: HttpRequest, clock: Clock): Promise<HttpStream> {
  return start<HttpStream>(request, clock, (response, settle, release) => {
    settle({
      code: response.statusCode ?? 0,
      headers: response.headers,
      bytes: 0,
      response,
      close() {
        release();
        response.destroy();
      },
    });
  });
}

/**
 * The common part. `onResponse` settles the promise; limits and abort stay in force until the answer has ended or
 * `release` is called.
 */
function start<T>(
  init: HttpRequest,
  clock: Clock,
  onResponse: (response: IncomingMessage, settle: (value: T) => void, release: () => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { signal } = init;
    if (signal?.aborted) return reject({ error: signal.reason, reusedSocket: false });
    const request = open(init);
    let response: IncomingMessage | undefined;
    const stop = (reason: unknown): void => {
      fail(reason);
      (response ?? request).destroy(reason instanceof Error ? reason : new Error(String(reason)));
    };
    const onAbort = (): void => stop(signal?.reason);
    const cancelTimer =
      init.timeoutMs === undefined
        ? undefined
        : clock.setTimer(init.timeoutMs, () => stop(timeoutError(init, init.timeoutMs ?? 0)));
    signal?.addEventListener("abort", onAbort, { once: true });
    const release = (): void => {
      cancelTimer?.();
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (error: unknown): void => {
      release();
      reject({ error: describe(error, init), reusedSocket: request.reusedSocket } satisfies ExchangeFailure);
    };
    request.on("error", fail);
    // Nothing here asks for another protocol; without this the request would be left as it is until its limit.
    request.once("upgrade", (_answer, socket) => {
      socket.destroy();
      fail(Object.assign(new Error("the server switched to another protocol, unasked"), { code: "EPROTO" }));
    });
    request.once("response", (incoming) => {
      response = incoming;
      incoming.on("error", fail);
      incoming.once("close", release);
      onResponse(incoming, resolve, release);
    });
    request.once("socket", (socket) =>
      whenReady(socket, () => {
        if (request.destroyed) return;
        try {
          init.beforeSend?.();
        } catch (error) {
          release();
          reject(error);
          request.destroy();
          return;
        }
        request.end(init.body);
      }),
    );
  });
}

/** Calls `then` when bytes written to the socket go out at once. */
function whenReady(socket: Socket & { secureConnecting?: boolean }, then: () => void): void {
  if (socket.secureConnecting === true) socket.once("secureConnect", then);
  else if (socket.connecting) socket.once("connect", then);
  else then();
}

function open(init: HttpRequest): ClientRequest {
  const { server } = init;
  const send = server.protocol === "https:" ? httpsRequest : httpRequest;
  return send({
    host: server.hostname.startsWith("[") ? server.hostname.slice(1, -1) : server.hostname,
    port: server.port || (server.protocol === "https:" ? 443 : 80),
    method: init.method,
    path: init.path,
    headers: init.headers as Record<string, string | string[]>,
    agent: init.agent,
  });
}

function timeoutError(init: HttpRequest, timeoutMs: number): Error {
  const message = `no complete answer within ${timeoutMs / 1000} s`;
  return Object.assign(new Error(message), { code: "ETIMEDOUT", name: "TimeoutError", path: init.path });
}

/** Gives errors of the socket their request; an abort's reason passes as it is. */
export function describe(error: unknown, init: Pick<HttpRequest, "method" | "path" | "signal">): unknown {
  if (init.signal?.aborted) return init.signal.reason;
  if (!(error instanceof Error) || error instanceof ConnectionError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "EUNKNOWN";
  const path = init.path.split("?", 1)[0] ?? init.path;
  return new ConnectionError({ code, message: error.message, method: init.method, path, cause: error });
}
