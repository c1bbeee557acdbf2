/** Metrics and health over HTTP. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError, messageOf } from "../errors.ts";
import type { Agent } from "../run/agent.ts";
import type { Tracked } from "../run/tracked.ts";
import type { ExposedMetrics } from "./metrics.ts";

/** A backend may be away for so many intervals before the agent is no longer ready. */
const OUTAGE_INTERVALS = 3;

export interface StatusServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on `host:port`; an empty host is all addresses. Rejects with a {@link ConfigError} when it cannot. */
export async function startStatusServer(
  address: string,
  agent: Agent,
  metrics: ExposedMetrics,
): Promise<StatusServer> {
  const match = /^(.*):([0-9]{1,5})$/.exec(address);
  if (match === null || Number(match[2]) > 65_535) {
    throw new ConfigError(`metrics-addr ${JSON.stringify(address)}: use host:port or :port`);
  }
  const host = match[1]!.replace(/^\[|\]$/g, "");
  const server = createServer((request, response) => {
    answer(request.url ?? "", response, agent, metrics).catch((error: unknown) => {
      response.writeHead(500).end(messageOf(error));
    });
  });
  await listen(server, host, Number(match[2]));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new ConfigError(`metrics-addr ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host === "" ? undefined : host, resolve);
  });
}

async function answer(
  url: string,
  response: ServerResponse,
  agent: Agent,
  metrics: ExposedMetrics,
): Promise<void> {
  switch (url.split("?")[0]) {
    case "/metrics":
      response.writeHead(200, { "content-type": metrics.contentType }).end(await metrics.text());
      return;
    case "/health":
    case "/healthz":
      response.writeHead(200).end("ok\n");
      return;
    case "/ready":
    case "/readyz": {
      const reasons = notReady(agent);
      response
        .writeHead(reasons.length === 0 ? 200 : 503)
        .end(reasons.length === 0 ? "ok\n" : `${reasons.join("\n")}\n`);
      return;
    }
    case "/ready/detailed":
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ resources: agent.resources().map(detail), refused: agent.refused() }, null, 2));
      return;
    default:
      response.writeHead(404).end("not found\n");
  }
}

/** Why the agent is not ready, if so. */
function notReady(agent: Agent): string[] {
  const reasons = agent.refused().map(({ message }) => message);
  for (const { resource, lastSuccess, lastError, client } of agent.resources()) {
    if (lastSuccess === undefined) reasons.push(`${resource.dest}: ${lastError ?? "not processed yet"}`);
    else if (lastError !== undefined) reasons.push(`${resource.dest}: ${lastError}`);
    const since = client.outageSince();
    if (since !== undefined && performance.now() - since > OUTAGE_INTERVALS * client.settings.interval) {
      reasons.push(`${resource.dest}: backend ${client.settings.backend} does not answer`);
    }
  }
  return reasons;
}

const detail = ({ resource, lastSuccess, lastError, processedRevision, reloadPending }: Tracked): object => ({
  resource: resource.name,
  dest: resource.dest,
  lastSuccess: lastSuccess === undefined ? null : new Date(lastSuccess).toISOString(),
  lastError: lastError ?? null,
  processedRevision: processedRevision ?? null,
  reloadPending,
});
