/** The HTTP server of the double. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { administer } from "./admin.ts";
import { type CloudflareAnswer, CloudflareRefusal, failure } from "./envelope.ts";
import { type CloudflareFault, createFaults, type Faults } from "./faults.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ACCOUNT_LIMIT, ADDRESS_LIMIT, createRateLimiter, type RateLimit } from "./rate-limit.ts";
import type { CloudflareRequest } from "./requests.ts";
import { findRoute } from "./router.ts";
import { type CloudflareState, seededState } from "./state.ts";
import { type CloudflareUser, callerOf, fingerprint, type Users } from "./users.ts";

/** Token that the double knows unless told otherwise; it may do everything. */
export const DEFAULT_TOKEN = "test-token";
/** Prefix of every path of the API. */
const PREFIX = "/client/v4";
/** Longest body that is read, in bytes. */
const MAX_BODY = 10 * 1024 * 1024;

export interface CloudflareDoubleOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the real time. */
  readonly now?: () => number;
  /** Limit of a user. Default 1200 calls in five minutes, as the API has. */
  readonly limit?: RateLimit;
  /** Limit of an address. Default 200 calls a second, as the API has. */
  readonly addressLimit?: RateLimit;
  /** Draws for faults that hit by chance. Default `Math.random`. */
  readonly random?: () => number;
}

export interface CloudflareDouble {
  /** Base of the API, for `CLOUDFLARE_API_BASE_URL`. */
  readonly url: string;
  /** Base of the paths beside the API: `/health`, `/admin/…`. */
  readonly origin: string;
  /** What is stored; may be looked into and changed. */
  readonly state: CloudflareState;
  /** Tokens and keys that are known. */
  readonly users: Users;
  readonly faults: Faults;
  /** Calls of the API so far. */
  readonly requests: readonly CloudflareRequest[];
  /** Back to the state at the start. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts the double on this machine alone. */
export async function createCloudflareDouble(
  options: CloudflareDoubleOptions = {},
): Promise<CloudflareDouble> {
  const {
    port = 0,
    now = Date.now,
    limit = ACCOUNT_LIMIT,
    addressLimit = ADDRESS_LIMIT,
    random = Math.random,
  } = options;
  const users: Users = {
    tokens: new Map([[DEFAULT_TOKEN, { name: "tester", permissions: ALL_PERMISSIONS }]]),
    keys: new Map(),
  };
  const faults = createFaults(random);
  const requests: CloudflareRequest[] = [];
  let state = seededState(now);
  let latencyMs = 0;
  let limiters = { user: createRateLimiter(limit, now), address: createRateLimiter(addressLimit, now) };
  const reset = (): void => {
    state = seededState(now);
    requests.length = 0;
    faults.clear();
    latencyMs = 0;
    limiters = { user: createRateLimiter(limit, now), address: createRateLimiter(addressLimit, now) };
  };
  const setLatency = (milliseconds: number): void => {
    latencyMs = milliseconds;
  };
  const tools = { state: () => state, faults, requests, reset, setLatency };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? "/", "http://double");
    const method = incoming.method ?? "GET";
    const text = await bodyOf(incoming);
    if (!url.pathname.startsWith(`${PREFIX}/`)) {
      const answer = attempt(() => administer(tools, method, url.pathname, url.searchParams, decode(text)));
      return send(response, answer);
    }
    const path = url.pathname.slice(PREFIX.length);
    const request: CloudflareRequest = {
      time: now(),
      method,
      path,
      query: url.search.slice(1),
      body: text === "" ? undefined : (decode(text) ?? text),
      status: 0,
      credential: fingerprint(incoming.headers),
    };
    requests.push(request);
    const fault = faults.take(method, path + url.search, text);
    const ends = fault?.hang === true || fault?.cut === true;
    const intercepted =
      fault !== undefined && (fault.status !== undefined || (ends && fault.afterwards !== true));
    const answer = intercepted
      ? faultAnswer(fault)
      : attempt(() => handle({ url, path, method, text, incoming }));
    if (fault?.cut) return void incoming.socket.destroy();
    if (fault?.hang) return;
    const pause = latencyMs + (fault?.delayMs ?? 0);
    if (pause > 0) await sleep(pause);
    request.status = answer.status;
    send(response, answer);
  };

  const handle = ({ url, path, method, text, incoming }: Incoming): CloudflareAnswer => {
    const user = callerOf(incoming.headers, users);
    const address = limiters.address(incoming.socket.remoteAddress ?? "");
    if (!address.allowed) throw new TooMany(address.seconds);
    const allowance = limiters.user(user.name);
    if (!allowance.allowed) throw new TooMany(allowance.seconds);
    const { route, params } = findRoute(method, path);
    checkPermission(user, route.permission);
    const body = text === "" ? undefined : decode(text);
    const answer = route.handle({ state, method, path, params, query: url.searchParams, body });
    const headers = {
      ratelimit: `"default";r=${allowance.left};t=${allowance.seconds}`,
      "ratelimit-policy": `"default";q=${limit.calls};w=${limit.windowMs / 1000}`,
    };
    return { ...answer, headers };
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      send(response, { status: 500, body: String(error) });
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: origin + PREFIX,
    origin,
    get state() {
      return state;
    },
    users,
    faults,
    requests,
    reset,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Incoming {
  readonly url: URL;
  readonly path: string;
  readonly method: string;
  readonly text: string;
  readonly incoming: IncomingMessage;
}

class TooMany extends CloudflareRefusal {
  readonly seconds: number;
  constructor(seconds: number) {
    super(429, 971, "Please wait and consider throttling your request speed");
    this.seconds = seconds;
  }
}

function attempt(work: () => CloudflareAnswer): CloudflareAnswer {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CloudflareRefusal)) throw error;
    const headers = error instanceof TooMany ? { "retry-after": String(error.seconds) } : {};
    return { ...failure(error), headers };
  }
}

function checkPermission(
  user: CloudflareUser,
  permission: CloudflareUser["permissions"][number] | undefined,
): void {
  if (permission === undefined || user.permissions.includes(permission)) return;
  throw new CloudflareRefusal(403, 10000, "Authentication error");
}

function faultAnswer(fault: CloudflareFault): CloudflareAnswer {
  const { status = 500, code = 10000, message = "Internal server error", headers = {}, raw } = fault;
  const base =
    raw === undefined ? failure(new CloudflareRefusal(status, code, message)) : { status, body: raw };
  return { ...base, headers };
}

function send(response: ServerResponse, { status, headers = {}, body }: CloudflareAnswer): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error("body too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
