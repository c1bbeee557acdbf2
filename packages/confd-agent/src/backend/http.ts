/** Requests to the HTTP API of a backend: the first node that answers, over TLS where that is set. */
import { Agent as HttpAgent, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { BackendSettings } from "../config/settings.ts";
import { BackendError, ConfigError, messageOf } from "../errors.ts";
import { readTlsFiles } from "./tls.ts";

/** Longest answer that is read, in bytes. */
const MAX_ANSWER = 256 * 1024 * 1024;
/** From here on a node says that itself is the problem. */
const SERVER_ERROR = 500;

export interface HttpRequest {
  /** Path with its query. */
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Is sent as JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Header by its name in small letters, empty without one. */
  header(name: string): string;
  readonly text: string;
}

export interface HttpNodes {
  /** Asks the node that answered last, and the others while it cannot be reached or fails itself. */
  ask(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export function createHttpNodes(settings: BackendSettings): HttpNodes {
  const nodes = settings.nodes.map((node) => parseNode(node, settings));
  const plain = new HttpAgent({ keepAlive: true });
  let secure: HttpsAgent | undefined;
  let current = 0;
  const secureAgent = (): HttpsAgent => {
    secure ??= new HttpsAgent({
      keepAlive: true,
      ...readTlsFiles(settings),
      ...(settings.clientInsecure ? { rejectUnauthorized: false } : {}),
    });
    return secure;
  };
  const askOne = (
    node: URL,
    { path, method = "GET", headers = {}, body, signal }: HttpRequest,
  ): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const all: OutgoingHttpHeaders = {
        ...headers,
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const url = new URL(node.pathname.replace(/\/$/, "") + path, node);
      const options = { method, headers: all, signal };
      const made =
        node.protocol === "https:"
          ? requestHttps(url, { ...options, agent: secureAgent() })
          : requestHttp(url, { ...options, agent: plain });
      made.once("error", reject);
      made.once("response", (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER)
            answer.destroy(new BackendError(`the answer has more than ${MAX_ANSWER} bytes`));
          else chunks.push(chunk);
        });
        answer.once("error", reject);
        answer.once("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            header: (name) => String(answer.headers[name] ?? ""),
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      });
      made.end(text);
    });
  return {
    ask: async (request) => {
      let problem: unknown;
      for (let tries = 0; tries < nodes.length; tries++) {
        const node = nodes[current % nodes.length]!;
        try {
          const answer = await askOne(node, request);
          if (answer.status < SERVER_ERROR) return answer;
          problem = new BackendError(
            `${node.origin}: HTTP ${answer.status} ${answer.text.trim().slice(0, 200)}`,
          );
        } catch (error) {
          if (request.signal.aborted) throw error;
          problem = new BackendError(`${node.origin}: ${messageOf(error)}`, { cause: error });
        }
        current += 1;
        // Certificates are read again with the next connection.
        secure?.destroy();
        secure = undefined;
      }
      throw problem;
    },
    close: () => {
      plain.destroy();
      secure?.destroy();
    },
  };
}

function parseNode(node: string, { scheme, clientCaKeys, clientCert }: BackendSettings): URL {
  const usual = clientCaKeys !== "" || clientCert !== "" ? "https" : scheme;
  const text = /^https?:\/\//.test(node) ? node : `${usual}://${node}`;
  if (!URL.canParse(text))
    throw new ConfigError(
      `node ${JSON.stringify(node)}: use host:port, http://host:port or https://host:port`,
    );
  return new URL(text);
}

/** A path with each part encoded; a byte string may hold any bytes. */
export const encodePath = (path: string): string =>
  path
    .split("/")
    .map((part) =>
      part.replace(
        /[^A-Za-z0-9\-._~]/g,
        (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
      ),
    )
    .join("/");
