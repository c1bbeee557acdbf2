/** A small HTTPS server that tests script by hand, with its certificates, and what else tests of the client share. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, type TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import type { Clock } from "../clock.ts";
import { defineKind, type Kind, type KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { authority, type KeyPair } from "./certificates.testkit.ts";
import { type ClientOptions, createClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { loadConnection } from "./load-connection.ts";
import type { Client } from "./types.ts";

/** A request as the server received it. */
export interface Received {
  method: string;
  /** Path with query, as sent. */
  url: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
  /** CN of the client certificate, `""` without one. */
  user: string;
  socket: Socket;
}

export type Handler = (request: Received, response: ServerResponse) => void;

export interface TestServer {
  url: string;
  port: number;
  ca: string;
  /** Client certificate that the server trusts. */
  clientCertificate(user: string): Promise<KeyPair>;
  requests: Received[];
  /** Connections opened so far, and those open now. */
  opened(): number;
  open(): number;
  stop(): Promise<void>;
}

/** Starts a server for one test. Requests are recorded, then handed to `handler`. */
export async function startServer(
  handler: Handler,
  options: { http?: boolean; names?: string[] } = {},
): Promise<TestServer> {
  const { ca, serving, client } = await authority();
  const requests: Received[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  const listener: Parameters<typeof createHttpServer>[1] = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://server");
      const peer = (request.socket as TLSSocket).getPeerCertificate?.();
      const received: Received = {
        method: request.method ?? "",
        url: request.url ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks).toString("utf8"),
        user: String(peer?.subject?.CN ?? ""),
        socket: request.socket,
      };
      requests.push(received);
      handler(received, response);
    });
  };
  const tls = { ...(await serving(options.names ?? [])), ca, requestCert: true, rejectUnauthorized: false };
  const server: Server = options.http ? createHttpServer(listener) : createServer(tls, listener);
  server.keepAliveTimeout = 0;
  server.on(options.http ? "connection" : "secureConnection", (socket: Socket) => {
    opened++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(stop);
  return {
    url: `${options.http ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    ca,
    clientCertificate: client,
    requests,
    opened: () => opened,
    open: () => sockets.size,
    stop,
  };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(text);
}

/** Body of a refusal as the API server writes it. */
export function status(code: number, reason: string, message: string, details: object = {}): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    details,
    code,
  };
}

/** Connection to a test server by a fixed token. */
export function connectionTo(server: TestServer, more: Partial<Connection> = {}): Connection {
  const credentials = {
    headers: { authorization: "Bearer test-token" },
    tls: {
      secureContext: createSecureContext({ ca: server.ca }),
      servername: undefined,
      rejectUnauthorized: true,
    },
  };
  return {
    server: new URL(server.url),
    source: "test",
    namespace: undefined,
    serviceAccount: undefined,
    proxy: undefined,
    credentials: () => credentials,
    ...more,
  };
}

/** Client of a test server; closed with the test. */
export function clientOf(
  server: TestServer,
  options: Partial<ClientOptions> & { clock?: Clock } = {},
): Client {
  const client = createClient({ connection: connectionTo(server), version: "1.2.3", ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Server and client in one, for tests of verbs. */
export async function serve(
  handler: Handler,
  options: Partial<ClientOptions> = {},
): Promise<{ server: TestServer; client: Client }> {
  const server = await startServer(handler);
  return { server, client: clientOf(server, options) };
}

/** A folder for one test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "quartet-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface LogEntry {
  level: string;
  msg: string;
  fields: Record<string, unknown>;
}

/** A logger that keeps what it is told. */
export function recordingLog(): Logger & { entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at =
    (level: string) =>
    (msg: string, fields: Record<string, unknown> = {}): void =>
      void entries.push({ level, msg, fields });
  const log: Logger & { entries: LogEntry[] } = {
    entries,
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    trace: at("trace"),
    with: () => log,
    named: () => log,
  };
  return log;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export interface Widget extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export const CONFIG_MAP: Kind<ConfigMap> = defineKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
export const NODE: Kind = defineKind({
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
});
export const LEASE: Kind = defineKind({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
export const WIDGET: Kind<Widget> = defineKind<Widget>({
  group: "example.io",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
});

/** Object of a kind in namespace `ns`. */
export function object<T extends KubeObject>(kind: Kind<T>, name: string, more: object = {}): T {
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return { apiVersion, kind: kind.kind, metadata: { name, namespace: "ns", ...more } } as T;
}

/** Text of a kubeconfig with one cluster `c`, user `u` and context `x` in namespace `dev`. */
export function kubeconfig(parts: { cluster: object; user?: object; more?: object }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "x",
    clusters: [{ name: "c", cluster: parts.cluster }],
    users: [{ name: "u", user: parts.user ?? {} }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "dev" } }],
    ...parts.more,
  });
}

/** `base64` of a text, as the `…-data` fields of a kubeconfig hold it. */
export function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

/** Connection by a kubeconfig with this user, in a folder that the test may write to. */
export async function connectByKubeconfig(
  server: TestServer,
  user: object,
  options: { cluster?: object; folder?: string } & Partial<Parameters<typeof loadConnection>[0]> = {},
): Promise<Connection> {
  const { cluster, folder = temporaryFolder(), ...more } = options;
  const path = join(folder, "config");
  const trusted = { server: server.url, "certificate-authority-data": base64(server.ca) };
  writeFileSync(path, kubeconfig({ cluster: { ...trusted, ...cluster }, user }));
  return loadConnection({ kubeconfig: path, env: {}, ...more });
}
