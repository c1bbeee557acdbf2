/** Small HTTP(S) servers for probes and metrics. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { followConnections } from "@quartet/core";
import { formatAddress, type ListenAddress } from "../config/address.ts";

/** Limit of reading a request in milliseconds; probes and scrapes are tiny. */
const REQUEST_TIMEOUT_MS = 10_000;

/** A server that accepts connections. */
export interface RunningServer {
  readonly port: number;
  /** URL on this machine, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Serves new connections with another certificate; only where it was started with one. */
  renew(tls: TlsPair): void;
  /** Stops listening and closes all connections. */
  stop(): Promise<void>;
}

/** PEM of a certificate, with its chain, and of its key. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  address: ListenAddress;
  /** Flag that set the address, for the message when it cannot be used. */
  flag: string;
  handler: RequestListener;
  /** HTTPS. */
  tls?: TlsPair;
}

/** Starts a server; rejects with an error that names the flag when the address cannot be used. */
export function startHttpServer(options: HttpServerOptions): Promise<RunningServer> {
  const { tls, handler, address } = options;
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const secure = tls && createSecureServer({ ...limits, ...tls }, handler);
  const server = secure ?? createServer(limits, handler);
  const destroyConnections = followConnections(server);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      destroyConnections();
    });
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const where = `--${options.flag} ${formatAddress(address)}`;
      const remedy = "name another address, or 0 for off";
      reject(new Error(`${where}: cannot listen: ${error.message}; ${remedy}`, { cause: error }));
    });
    server.listen({ port: address.port, ...(address.host && { host: address.host }) }, () => {
      const { port } = server.address() as AddressInfo;
      const host = address.host === undefined ? "127.0.0.1" : address.host;
      const authority = formatAddress({ host, port });
      const url = `${secure ? "https" : "http"}://${authority}`;
      resolve({ port, url, renew: (pair) => secure?.setSecureContext({ ...pair }), stop });
    });
  });
}

/** Sends a short text. */
export function sendText(
  response: ServerResponse,
  code: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(text);
}

/** Answers 405 and returns false unless the request only reads. */
export function allowsOnlyReads(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  sendText(response, 405, "method not allowed\n", { allow: "GET, HEAD" });
  return false;
}
