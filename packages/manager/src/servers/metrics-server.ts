/** `/metrics` for Prometheus. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Logger, type Metrics, requestUrl } from "@quartet/core";
import type { ListenAddress } from "../config/address.ts";
import {
  allowsOnlyReads,
  type RunningServer,
  sendText,
  startHttpServer,
  type TlsPair,
} from "./http-server.ts";
import type { AccessReviewer } from "./metrics-access.ts";

/** Path that metrics are served at, and that callers need the right to `get`. */
export const METRICS_PATH: string = "/metrics";

export interface MetricsServerOptions {
  address: ListenAddress;
  metrics: Metrics;
  log: Logger;
  /** TLS, and callers must be allowed to read metrics. Absent: plain HTTP for everybody. */
  secure?: { tls: TlsPair; access: AccessReviewer };
}

/** Starts the server of metrics. */
export function startMetricsServer(options: MetricsServerOptions): Promise<RunningServer> {
  const { metrics, log, secure } = options;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = requestUrl(request);
    if (pathname !== METRICS_PATH) return sendText(response, 404, "404 page not found\n");
    if (secure !== undefined && !(await admit(secure.access, request, response))) return;
    sendText(response, 200, await metrics.render(), { "content-type": metrics.registry.contentType });
  };
  return startHttpServer({
    address: options.address,
    flag: "metrics-bind-address",
    ...(secure && { tls: secure.tls }),
    handler: (request, response) => {
      if (!allowsOnlyReads(request, response)) return;
      handle(request, response).catch((error: unknown) => {
        log.error("Metrics endpoint failed", { error });
        sendText(response, 500, "internal error\n");
      });
    },
  });
}

async function admit(
  access: AccessReviewer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const outcome = token === undefined ? "unauthenticated" : await access(token);
  if (outcome === "unauthenticated") {
    sendText(response, 401, "unauthorized\n", { "www-authenticate": "Bearer" });
  } else if (outcome === "denied") sendText(response, 403, "forbidden\n");
  return outcome === "allowed";
}
