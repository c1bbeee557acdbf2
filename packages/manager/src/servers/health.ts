/** `/healthz` and `/readyz` as Kubernetes components serve them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type HealthCheck, type Logger, messageOf, requestUrl } from "@quartet/core";
import type { ListenAddress } from "../config/address.ts";
import { allowsOnlyReads, type RunningServer, sendText, startHttpServer } from "./http-server.ts";

/** Checks by name; may grow while running. */
type HealthChecks = ReadonlyMap<string, HealthCheck>;

export interface HealthServerOptions {
  address: ListenAddress;
  /** Checks of `/healthz`: a failure makes the kubelet restart the process. No check may ask the API server. */
  healthz: HealthChecks;
  /** Checks of `/readyz`: a failure takes the process out of its Services. */
  readyz: HealthChecks;
  log: Logger;
}

/** Starts the server of probes. */
export function startHealthServer(options: HealthServerOptions): Promise<RunningServer> {
  const endpoints: Readonly<Record<string, HealthChecks>> = {
    healthz: options.healthz,
    readyz: options.readyz,
  };
  const tell = changesOnly(options.log);
  return startHttpServer({
    address: options.address,
    flag: "health-probe-bind-address",
    handler: (request, response) => {
      if (!allowsOnlyReads(request, response)) return;
      answer(endpoints, request, response, tell).catch((error: unknown) => {
        options.log.error("Health endpoint failed", { error });
        sendText(response, 500, "internal error\n");
      });
    },
  });
}

interface Outcome {
  readonly name: string;
  readonly excluded: boolean;
  readonly reason: string | undefined;
}

async function answer(
  endpoints: Readonly<Record<string, HealthChecks>>,
  request: IncomingMessage,
  response: ServerResponse,
  tell: (endpoint: string, outcome: Outcome) => void,
): Promise<void> {
  const url = requestUrl(request);
  const [, endpoint = "", name, ...rest] = url.pathname.replace(/\/$/, "").split("/");
  const checks = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  if (checks === undefined || rest.length > 0) return sendText(response, 404, "404 page not found\n");
  const names = name === undefined ? [...checks.keys()] : [name];
  if (!names.every((one) => checks.has(one))) return sendText(response, 404, "404 page not found\n");
  const excluded = new Set(name === undefined ? url.searchParams.getAll("exclude") : []);
  const outcomes = await Promise.all(names.map((one) => runCheck(one, checks.get(one)!, excluded.has(one))));
  const whole = name === undefined;
  const failed = outcomes.filter(
    (outcome) => outcome.reason !== undefined && !(whole && checks.get(outcome.name)?.advisory),
  );
  for (const outcome of outcomes) tell(endpoint, outcome);
  if (failed.length === 0 && !url.searchParams.has("verbose")) return sendText(response, 200, "ok");
  const unknown = [...excluded].filter((one) => !checks.has(one));
  sendText(response, failed.length === 0 ? 200 : 500, report(endpoint, outcomes, unknown, failed.length > 0));
}

/** Logs a check when it begins or ceases to fail, or fails for another reason: probes come every few seconds. */
function changesOnly(log: Logger): (endpoint: string, outcome: Outcome) => void {
  const reasons = new Map<string, string | undefined>();
  return (endpoint, { name: check, reason, excluded }) => {
    const key = `${endpoint}/${check}`;
    if (excluded || reasons.get(key) === reason) return;
    reasons.set(key, reason);
    if (reason === undefined) log.info("Health check passes again", { endpoint, check });
    else log.warn("Health check failed", { endpoint, check, reason });
  };
}

async function runCheck(name: string, check: HealthCheck, excluded: boolean): Promise<Outcome> {
  if (excluded) return { name, excluded, reason: undefined };
  try {
    return { name, excluded, reason: await check() };
  } catch (error) {
    return { name, excluded, reason: messageOf(error) };
  }
}

function report(
  endpoint: string,
  outcomes: readonly Outcome[],
  unknown: readonly string[],
  failed: boolean,
): string {
  const lines = outcomes.map(({ name, excluded, reason }) => {
    if (excluded) return `[+]${name} excluded: ok`;
    return reason === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
  });
  if (unknown.length > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`);
  lines.push(`${endpoint} check ${failed ? "failed" : "passed"}`);
  return `${lines.join("\n")}\n`;
}
