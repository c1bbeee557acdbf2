/** A bare JSON client for tests: independent of `@quartet/core`, so that one does not hide the other's faults. */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { createSecureContext } from "node:tls";
import { parse } from "yaml";

export interface Answer<T = unknown> {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  /** Decoded JSON, or the text when it is none. */
  body: T;
}

export interface RequestInit {
  headers?: OutgoingHttpHeaders;
  /** Content type of the body. Default `application/json`. */
  contentType?: string;
  signal?: AbortSignal;
}

export interface TestClient {
  readonly url: string;
  /** Sends a request; never throws for a status code. A string body goes out as it is. */
  request<T = unknown>(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Answer<T>>;
  /** Like `request`, but throws on a status code of 400 or more, with the server's message. */
  ok<T = unknown>(method: string, path: string, body?: unknown, init?: RequestInit): Promise<T>;
  /** Lines of a streaming answer, decoded; ends with the server or the signal. */
  stream<T = unknown>(path: string, signal: AbortSignal): AsyncGenerator<T>;
  close(): void;
}

interface KubeconfigFile {
  clusters: { cluster: { server: string; "certificate-authority-data"?: string } }[];
  users: { user: { "client-certificate-data"?: string; "client-key-data"?: string; token?: string } }[];
}

/** Client for the first cluster and user of a kubeconfig text. */
export function testClient(kubeconfig: string): TestClient {
  const config = parse(kubeconfig) as KubeconfigFile;
  const cluster = config.clusters[0]!.cluster;
  const user = config.users[0]?.user ?? {};
  const pem = (base64: string | undefined): string | undefined =>
    base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
  // One context for all connections: Node parses keys and certificates anew for each otherwise.
  const secureContext = createSecureContext({
    ca: pem(cluster["certificate-authority-data"]),
    cert: pem(user["client-certificate-data"]),
    key: pem(user["client-key-data"]),
  });
  const agent = new Agent({ keepAlive: true, secureContext });
  const auth = user.token === undefined ? {} : { authorization: `Bearer ${user.token}` };

  const send = (method: string, path: string, body: unknown, init: RequestInit) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const payload = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
      const headers: OutgoingHttpHeaders = { accept: "application/json", ...auth, ...init.headers };
      if (payload !== undefined) {
        headers["content-type"] = init.contentType ?? "application/json";
        // Node announces no body of its own accord on a DELETE
        headers["content-length"] = Buffer.byteLength(payload);
      }
      const req = httpsRequest(
        cluster.server + path,
        { method, agent, headers, signal: init.signal },
        resolve,
      );
      req.on("error", reject);
      req.end(payload);
    });

  const request = async <T>(
    method: string,
    path: string,
    body?: unknown,
    init: RequestInit = {},
  ): Promise<Answer<T>> => {
    const response = await send(method, path, body, init);
    let text = "";
    response.setEncoding("utf8");
    for await (const chunk of response) text += chunk;
    let decoded: unknown = text;
    try {
      decoded = JSON.parse(text);
    } catch {
      // not JSON: the text itself is the body
    }
    return { code: response.statusCode ?? 0, headers: response.headers, body: decoded as T };
  };

  return {
    url: cluster.server,
    request,
    async ok<T>(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<T> {
      const answer = await request<T>(method, path, body, init);
      if (answer.code >= 400) {
        const message = (answer.body as { message?: string }).message ?? String(answer.body);
        throw new Error(`${method} ${path}: ${answer.code} ${message}`);
      }
      return answer.body;
    },
    async *stream<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
      const response = await send("GET", path, undefined, { signal });
      response.setEncoding("utf8");
      let rest = "";
      for await (const chunk of response) {
        rest += chunk;
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line !== "") yield JSON.parse(line) as T;
      }
    },
    close: () => agent.destroy(),
  };
}
