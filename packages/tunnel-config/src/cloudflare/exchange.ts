/** One HTTP exchange: bounded in time and size. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** Limit of one request, connecting included, in milliseconds (TUN-1005). */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Largest answer that is read, in bytes. A page of 1000 DNS records is about 1 MiB. */
export const MAX_ANSWER_BYTES: number = 16 * 1024 * 1024;

export interface ExchangeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request; rejects with a short cause that names neither address nor header. */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeAnswer>;

/** Exchanges over kept connections. */
export function createExchange(): Exchange {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  return (request) =>
    new Promise((resolve, reject) => {
      const { method, body, timeoutMs, signal } = request;
      const url = new URL(request.url);
      const timer = setTimeout(() => finish(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
      const headers: Record<string, string | number> = { accept: "application/json", ...request.headers };
      if (body !== undefined) {
        headers["content-type"] = "application/json";
        headers["content-length"] = Buffer.byteLength(body);
      }
      const secure = url.protocol === "https:";
      const sent: ClientRequest = secure
        ? httpsRequest(url, { method, headers, agent: agents.https })
        : httpRequest(url, { method, headers, agent: agents.http });
      const onAbort = (): void => finish(new Error("the manager stops"));
      let done = false;
      const finish = (outcome: Error | ExchangeAnswer): void => {
        if (done) return;
        done = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        if (outcome instanceof Error) {
          sent.destroy();
          reject(outcome);
        } else resolve(outcome);
      };
      if (signal?.aborted) return onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      sent.on("error", (error: NodeJS.ErrnoException) => finish(new Error(causeOf(error))));
      sent.on("response", (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES)
            return finish(new Error(`answer longer than ${MAX_ANSWER_BYTES} bytes`));
          chunks.push(chunk);
        });
        answer.on("error", (error) => finish(new Error(causeOf(error))));
        answer.on("aborted", () => finish(new Error("the connection broke during the answer")));
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          finish({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        });
      });
      sent.end(body);
    });
}

function causeOf({ code, message }: NodeJS.ErrnoException): string {
  return code === undefined ? message : `connection failed (${code})`;
}
