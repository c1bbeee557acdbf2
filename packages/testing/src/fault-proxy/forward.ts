/** One request on its way through the fault proxy. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Fault, RequestLine } from "./rules.ts";
import { lineCutter } from "./truncate.ts";
import type { UpstreamAccess } from "./upstream.ts";

/** An open request. */
export interface Exchange {
  readonly line: RequestLine;
  /** Destroys the client's connection. */
  cut(): void;
  /** No byte passes any more; the connection stays open. */
  freeze(): void;
}

export interface Passage {
  upstreamUrl: string;
  via: UpstreamAccess;
  request: IncomingMessage;
  response: ServerResponse;
  fault: Fault | undefined;
  line: RequestLine;
}

/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "host"]);

/** Sends a request on, or lets it meet its fault. */
export function forward(passage: Passage): Exchange {
  const { request, response, fault, line } = passage;
  const client = request.socket;
  let frozen = false;
  let stopUpstream = (): void => {};
  response.on("error", () => {});
  response.on("close", () => stopUpstream());

  const send = (): void => {
    if (response.destroyed) return;
    stopUpstream = sendUpstream(passage, () => frozen);
  };
  switch (fault?.kind) {
    case "blackhole":
      frozen = true;
      break;
    case "tooManyRequests":
      refuse(response, 429, "TooManyRequests", fault.retryAfterSeconds);
      break;
    case "serverError":
      refuse(response, 500, "InternalError");
      break;
    case "delay": {
      const timer = setTimeout(send, fault.ms);
      stopUpstream = () => clearTimeout(timer);
      break;
    }
    case "cut":
      if (fault.when === "after") send();
      else client.destroy();
      break;
    default:
      send();
  }
  return {
    line,
    cut: () => client.destroy(),
    freeze() {
      frozen = true;
    },
  };
}

/** Sends the request to the server and its answer to the client; the returned function gives both up. */
function sendUpstream({ upstreamUrl, via, request, response, fault, line }: Passage, frozen: () => boolean) {
  const client = request.socket;
  const headers = { ...passedHeaders(request), ...via.headers };
  // Lines can be counted in plain text only.
  if (fault?.kind === "truncate") headers["accept-encoding"] = "identity";
  const outgoing = httpsRequest(
    upstreamUrl + line.url,
    { method: line.method, agent: via.agent, headers },
    (answer) => {
      if (fault?.kind === "cut") {
        answer.resume().on("end", () => client.destroy());
        return;
      }
      if (frozen()) return;
      if (fault?.kind === "late") {
        passLate(answer, response, fault.ms, frozen);
        return;
      }
      response.writeHead(answer.statusCode ?? 502, passedHeaders(answer));
      response.flushHeaders();
      const cutter = fault?.kind === "truncate" ? lineCutter(fault.lines) : undefined;
      answer.on("data", (chunk: Buffer) => {
        if (frozen() || response.destroyed) return;
        const { pass, done } = cutter?.cut(chunk) ?? { pass: chunk, done: false };
        if (done) {
          outgoing.destroy();
          response.write(pass, () => client.destroy());
        } else if (!response.write(pass)) {
          answer.pause();
          response.once("drain", () => answer.resume());
        }
      });
      answer.on("end", () => {
        if (!frozen()) response.end();
      });
      answer.on("error", () => {
        if (!frozen() && cutter === undefined) client.destroy();
      });
    },
  );
  outgoing.on("error", () => {
    if (!frozen() && fault?.kind !== "truncate") client.destroy();
  });
  request.pipe(outgoing);
  return () => void outgoing.destroy();
}

/** Passes an answer on with a delay; timers of one length keep the order of its parts. */
function passLate(
  answer: IncomingMessage,
  response: ServerResponse,
  ms: number,
  frozen: () => boolean,
): void {
  const later = (action: () => void): void => {
    setTimeout(() => {
      if (!frozen() && !response.destroyed) action();
    }, ms).unref();
  };
  later(() => {
    response.writeHead(answer.statusCode ?? 502, passedHeaders(answer));
    response.flushHeaders();
  });
  answer.on("data", (chunk: Buffer) => later(() => response.write(chunk)));
  answer.on("end", () => later(() => response.end()));
  answer.on("error", () => later(() => response.destroy()));
}

function passedHeaders(message: IncomingMessage): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(message.headersDistinct)
      .filter(([name, values]) => values !== undefined && !CONNECTION_HEADERS.has(name))
      .map(([name, values]) => [name, values!.length === 1 ? values![0]! : values!]),
  );
}

/** Answers with a Status as an API server does. */
function refuse(response: ServerResponse, code: number, reason: string, retryAfterSeconds?: number): void {
  const body = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `fault proxy: ${reason}`,
    reason,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    code,
  };
  if (retryAfterSeconds !== undefined) response.setHeader("retry-after", String(retryAfterSeconds));
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
