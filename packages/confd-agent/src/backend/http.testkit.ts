/** Servers of HTTP APIs on loopback, for tests of backends. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TestServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  close(): Promise<void>;
}

/** A request with its body. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Reply = (status: number, body?: unknown, headers?: Readonly<Record<string, string>>) => void;

/** Answers requests as the handler says; a body that is no string goes out as JSON. */
export async function startServer(
  handle: (request: Received, reply: Reply, response: ServerResponse) => void,
  port = 0,
): Promise<TestServer> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const url = new URL(incoming.url ?? "/", "http://server");
      const request = {
        method: incoming.method ?? "",
        url,
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      handle(
        request,
        (status, body = "", headers = {}) => {
          response.writeHead(status, headers);
          response.end(typeof body === "string" ? body : JSON.stringify(body));
        },
        response,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
