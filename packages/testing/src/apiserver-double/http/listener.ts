/** The HTTPS listener on loopback. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { authenticated } from "../auth.ts";
import { MAX_BODY } from "../body.ts";
import type { Answer, Sink, User } from "../call.ts";
import type { Pki } from "../pki.ts";
import type { Handler } from "./handler.ts";

export interface Listener {
  readonly port: number;
  /** Ends every open connection; the listener goes on. */
  cutConnections(): void;
  close(): Promise<void>;
}

/** Idle connections live as long as clients keep them, ms. */
const KEEP_ALIVE_MS = 120_000;

/** The body, `undefined` when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  return size > MAX_BODY ? undefined : Buffer.concat(chunks).toString("utf8");
}

/** Users of connections, whose certificates stay the same. */
const users = new WeakMap<TLSSocket, User | undefined>();

function certificateUser(request: IncomingMessage): User | undefined {
  const socket = request.socket as TLSSocket;
  if (!users.has(socket)) users.set(socket, peerOf(socket));
  return users.get(socket);
}

function peerOf(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const name = subject?.CN;
  if (name === undefined) return undefined;
  const groups = subject.O as string | string[] | undefined;
  return authenticated(String(name), groups === undefined ? [] : [groups].flat());
}

/** `299 - "text"`, quoted as the server does. */
function warningHeader(text: string): string {
  return `299 - "${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]+/g, " ")}"`;
}

function startStream(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.code, { "content-type": "application/json" });
  response.flushHeaders();
  const sink: Sink = {
    write: (text) => void response.write(text),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  };
  answer.stream!(sink);
}

function send(response: ServerResponse, answer: Answer, warnings: readonly string[]): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (warnings.length > 0) response.setHeader("warning", [...new Set(warnings)].map(warningHeader));
  response.setHeader("cache-control", "no-cache, private");
  if (answer.stream !== undefined) {
    startStream(response, answer);
    return;
  }
  const text = answer.text ?? JSON.stringify(answer.body ?? {});
  response.writeHead(answer.code, {
    "content-type": answer.contentType ?? "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

async function serve(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const abort = new AbortController();
  response.on("close", () => abort.abort());
  const { answer, warnings, cut } = await handler.handle({
    method: request.method ?? "GET",
    url: request.url ?? "/",
    headers: request.headers,
    body: await readBody(request),
    certificate: certificateUser(request),
    signal: abort.signal,
  });
  if (cut === true) request.socket.destroy();
  else send(response, answer, warnings);
}

/** Listens on a port of 127.0.0.1; 0 takes a free one. */
export async function listen(handler: Handler, pki: Pki, port: number): Promise<Listener> {
  const sockets = new Set<Socket>();
  const server: HttpsServer = createServer(
    {
      key: pki.serving.key,
      cert: pki.serving.cert,
      ca: pki.authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: 0,
    },
    (request, response) => {
      serve(handler, request, response).catch(() => request.socket.destroy());
    },
  );
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const cutConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cutConnections,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cutConnections();
      await closed;
    },
  };
}
