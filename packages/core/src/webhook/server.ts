/** The webhook server: HTTPS, one path per webhook, certificates replaced while it runs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../clock.ts";
import { followConnections } from "../connections.ts";
import type { OpenSources } from "../controller/open-sources.ts";
import type { Logger } from "../observe/types.ts";
import { requestUrl } from "../request-url.ts";
import { admit } from "./admission.ts";
import type { BoundWebhook } from "./bind.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { limitConnections } from "./connection-limit.ts";
import { convertReview } from "./conversion.ts";
import { HttpError } from "./http-error.ts";
import { withJsonBody } from "./read-body.ts";
import { admissionRequestOf, admissionReview } from "./review.ts";
import type { Conversion } from "./types.ts";
import { withinNamespace } from "./within-namespace.ts";

/** Node's default of 5 s races with the API server's pool of 90 s and yields EOF failures (CORE-331). */
const KEEP_ALIVE_MS = 120_000;
/** From the first byte of a call to the end of its headers. */
const HEADERS_MS = 10_000;
/** Headers of an API server's call are far below; each connection may have so much of them unread (CORE-331). */
const MAX_HEADER_BYTES = 64 * 1024;
/** The longest call that an API server makes takes 30 s (CORE-342). */
const REQUEST_MS = 40_000;
/** Time kept back from the API server's limit, for the answer to travel (CORE-340). */
const ANSWER_MARGIN_MS = 500;
/** The API server's own default, for calls without `?timeout=`. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Time for the last answer to travel before its connection is closed. */
const LAST_ANSWER_MS = 250;
/** Path of the conversion webhook of all CRDs. */
export const CONVERT_PATH = "/convert";

/** Serving certificate and key, PEM. */
export interface ServingPair {
  cert: string;
  key: string;
}

/** What the server tells of each call, for the metrics of CORE-280's table. */
export interface WebhookObserver {
  onStart(path: string): void;
  onEnd(path: string, code: number, seconds: number): void;
  onPanic(path: string): void;
}

export interface WebhookServerOptions {
  host?: string;
  port: number;
  certificate: ServingPair;
  webhooks: readonly BoundWebhook[];
  conversions?: readonly Conversion[];
  /** CA that client certificates must be signed by, PEM (CORE-352). */
  clientCa?: string;
  log: Logger;
  clock?: Clock;
  observer?: WebhookObserver;
  /** Connections at a time. Default 512. */
  maxConnections?: number;
  /** Bytes that the bodies of running calls may take, beyond 64 KiB of each. Default 64 MiB. */
  maxBodyBytes?: number;
  /** What is held for a webhook that reads: it answers 500 until that is synced. */
  sourcesOf(webhook: BoundWebhook): Pick<OpenSources, "reader" | "synced">;
}

export interface WebhookServer {
  readonly port: number;
  /** Serves a new certificate to new connections; running ones live on (CORE-349). */
  setCertificate(pair: ServingPair): void;
  /** Takes no new connections, answers the calls that run, and ends. */
  close(): Promise<void>;
}

/** Starts the server; rejects when the port is taken or the certificate cannot be used. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const tls = (pair: ServingPair) => ({
    ...pair,
    minVersion: "TLSv1.2" as const,
    ...(options.clientCa === undefined
      ? {}
      : { ca: options.clientCa, requestCert: true, rejectUnauthorized: true }),
  });
  const handlers = pathHandlers(options);
  const clock = options.clock ?? systemClock;
  const budget = createBodyBudget(options.maxBodyBytes);
  let running = 0;
  let onIdle: (() => void) | undefined;
  const server = createServer(
    {
      ...tls(options.certificate),
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => {
      running++;
      const ended = callBegan(request.socket);
      response.once("close", () => {
        running--;
        ended(response.statusCode === 200 && response.headersSent);
        if (running === 0) onIdle?.();
      });
      void serve({ handlers, budget, options, clock }, request, response);
    },
  );
  const callBegan = limitConnections(server, clock, options.maxConnections);
  const destroyConnections = followConnections(server);
  await listen(server, options.port, options.host);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: (pair) => server.setSecureContext(tls(pair)),
    close: () =>
      new Promise((resolve) => {
        let cancel = (): void => {};
        server.close(() => {
          cancel();
          resolve();
        });
        server.closeIdleConnections();
        onIdle = () => {
          // A connection of the API server stays open after its answer, and others may never have sent a thing.
          cancel();
          cancel = clock.setTimer(LAST_ANSWER_MS, destroyConnections);
        };
        if (running === 0) onIdle();
      }),
  };
}

type Handler = (body: unknown, signal: AbortSignal, url: URL) => Promise<unknown> | unknown;

function pathHandlers(options: WebhookServerOptions): ReadonlyMap<string, Handler> {
  const handlers = new Map<string, Handler>();
  for (const webhook of options.webhooks) {
    if (handlers.has(webhook.path)) throw new Error(`webhook path ${webhook.path} is declared twice`);
    handlers.set(webhook.path, async (body, signal) => {
      const sources = options.sourcesOf(webhook);
      if (!sources.synced()) throw new Error("what the handler reads is not cached yet");
      const log = options.log.with({ webhook: webhook.name });
      const request = admissionRequestOf(body);
      const cache = withinNamespace(sources.reader, request.namespace);
      return admissionReview(await admit(webhook, request, { signal, log, cache }));
    });
  }
  const conversions = options.conversions ?? [];
  if (conversions.length > 0)
    handlers.set(CONVERT_PATH, (body) => convertReview(conversions, body, options.log));
  return handlers;
}

interface Serving {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly budget: BodyBudget;
  readonly options: WebhookServerOptions;
  readonly clock: Clock;
}

async function serve(
  { handlers, budget, options, clock }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = requestUrl(request);
  const handler = handlers.get(url.pathname);
  if (handler === undefined) return reply(response, 404, { message: "no webhook at this path" });
  if (request.method !== "POST") return reply(response, 405, { message: "webhooks take POST only" });

  const started = clock.monotonic();
  options.observer?.onStart(url.pathname);
  let code = 200;
  let hasBody = false;
  try {
    const answer = await withDeadline(clock, timeoutOf(url), (signal) =>
      withJsonBody(request, { budget, signal }, (body) => {
        hasBody = true;
        return handler(body, signal, url);
      }),
    );
    reply(response, 200, answer);
  } catch (error) {
    // A body that does not come, or breaks off, is the caller's affair.
    code = error instanceof HttpError ? error.code : hasBody ? 500 : 408;
    if (code === 500) {
      options.observer?.onPanic(url.pathname);
      options.log.error("webhook handler failed", { path: url.pathname, error });
    }
    const message = code === 500 ? "webhook handler failed" : (error as Error).message;
    reply(response, code, { message });
  } finally {
    options.observer?.onEnd(url.pathname, code, (clock.monotonic() - started) / 1000);
  }
}

/** Milliseconds that the handler may take: the API server's `?timeout=10s` less the margin. */
function timeoutOf(url: URL): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(url.searchParams.get("timeout") ?? "");
  const unit = { ms: 1, s: 1000, m: 60_000 }[match?.[2] ?? "s"] ?? 1000;
  const limit = match === null ? DEFAULT_TIMEOUT_MS : Number(match[1]) * unit;
  return Math.max(0, limit - ANSWER_MARGIN_MS);
}

/** Runs `fn` and rejects once the limit is over, even if `fn` ignores its signal. */
async function withDeadline<T>(
  clock: Clock,
  ms: number,
  fn: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const controller = new AbortController();
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(ms, () => {
      const reason = new Error(`webhook handler took longer than ${ms} ms`);
      controller.abort(reason);
      reject(reason);
    });
  });
  try {
    return await Promise.race([Promise.resolve(fn(controller.signal)), late]);
  } finally {
    cancel();
  }
}

function reply(response: ServerResponse, code: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(code, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
