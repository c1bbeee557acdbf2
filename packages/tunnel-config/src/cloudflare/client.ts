/** Calls of the Cloudflare v4 API under one credential. */
import { type Clock, sleep } from "@quartet/core";
import type { Budget, CallPriority } from "./budget.ts";
import { type ApiCredentials, authHeaders, secretsOf } from "./credentials.ts";
import { type EnvelopeBody, messageOfEnvelope, readEnvelope } from "./envelope.ts";
import { ApiError } from "./errors.ts";
import { type Exchange, type ExchangeAnswer, REQUEST_TIMEOUT_MS } from "./exchange.ts";
import { createGate, type Leave } from "./gate.ts";
import { limitOf } from "./limit.ts";
import { permissionFor } from "./permissions.ts";
import { redact } from "./redact.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Address of the API unless the environment names another (TUN, section 2). */
export const DEFAULT_BASE_URL = "https://api.cloudflare.com/client/v4";
/** How often a call that may be repeated is tried in all (TUN-1005). */
const ATTEMPTS = 3;
/** First pause before a repetition; it doubles. */
const RETRY_PAUSE_MS = 500;
/** Longest pause after a refusal that a call waits out itself; longer ones are the caller's. */
const MAX_PATIENCE_MS = 5_000;
/** A call that took so long counts as not answered, in milliseconds; usual ones take a few hundred. */
const SILENCE_MS = 15_000;

/** R2 is not enabled in the account: answered with 403, though it is no matter of rights. */
const R2_NOT_ENABLED = 10042;

export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base, beginning with `/`, its parts encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly priority?: CallPriority;
  readonly signal?: AbortSignal;
}

export interface ApiObserver {
  /** @param endpoint path with the identifiers left out */
  answered(method: string, endpoint: string, status: number): void;
}

export interface ApiClient {
  /** The envelope of a call that succeeded; throws {@link ApiError}. */
  call(call: ApiCall): Promise<EnvelopeBody>;
  readonly budget: Budget;
}

export interface ApiClientOptions {
  readonly baseUrl: string;
  readonly credentials: ApiCredentials;
  readonly budget: Budget;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  readonly observer?: ApiObserver;
  readonly timeoutMs?: number;
}

/** A client; calls go out as the budget lets them. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const {
    baseUrl,
    credentials,
    budget,
    exchange,
    clock,
    version,
    observer,
    timeoutMs = REQUEST_TIMEOUT_MS,
  } = options;
  const secrets = secretsOf(credentials);
  const gate = createGate(clock);
  const headers = { ...authHeaders(credentials), "user-agent": `quartet-tunnel-config/${version}` };

  const once = async (call: ApiCall): Promise<EnvelopeBody> => {
    const { method, path, signal } = call;
    const name = `${method} ${path}`;
    const priority = call.priority ?? priorityOf(method);
    const leave = await enter(name, priority);
    const start = clock.monotonic();
    try {
      await budget.take(priority, signal);
      return await exchanged(call, name);
    } finally {
      leave(clock.monotonic() - start < SILENCE_MS);
    }
  };

  /** A call that cannot go out soon is sent away: the workers that would wait for it are for others as well. */
  const enter = async (name: string, priority: CallPriority): Promise<Leave> => {
    const wait = budget.waitMs(priority);
    const entered = wait > MAX_PATIENCE_MS ? wait : await gate.enter();
    if (typeof entered === "function") return entered;
    const message = `Cloudflare API, ${name}: calls of this credential wait for ${Math.ceil(entered / 1000)} s`;
    throw new ApiError({ status: 429, codes: [], message, call: name, retryAfterMs: entered });
  };

  const exchanged = async (call: ApiCall, name: string): Promise<EnvelopeBody> => {
    const { method, path, signal } = call;
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const url = `${baseUrl.replace(/\/$/, "")}${path}${queryText(call.query)}`;
    let answer: ExchangeAnswer;
    try {
      answer = await exchange({ method, url, headers, body, timeoutMs, signal });
    } catch (error) {
      observer?.answered(method, endpointOf(path), 0);
      const message = redact(`Cloudflare API, ${name}: ${(error as Error).message}`, secrets);
      throw new ApiError({ status: 0, codes: [], message, call: name });
    }
    observer?.answered(method, endpointOf(path), answer.status);
    if (answer.status === 429) budget.refused(retryAfterMs(answer.headers["retry-after"], clock.now()));
    else budget.accepted();
    const left = limitOf(answer.headers);
    if (left !== undefined) budget.told(left.left, left.of, left.resetMs);
    return outcome(answer, name, path);
  };

  const outcome = (
    { status, headers: received, text }: ExchangeAnswer,
    name: string,
    path: string,
  ): EnvelopeBody => {
    const envelope = readEnvelope(text);
    if (status >= 200 && status < 300 && envelope?.success === true) return envelope;
    const said =
      envelope === undefined ? "the answer is no JSON of the Cloudflare API" : messageOfEnvelope(envelope);
    const pause =
      retryAfterMs(received["retry-after"], clock.now()) ?? (status === 429 ? budget.pausedMs() : undefined);
    const codes = (envelope?.errors ?? []).map(({ code }) => code);
    const permission = codes.includes(R2_NOT_ENABLED) ? undefined : permissionFor(path);
    const hint = status === 403 && permission !== undefined ? `; the token needs "${permission}"` : "";
    throw new ApiError({
      // An answer that is none is as good as no answer: it may be a proxy's.
      status: status < 400 ? (envelope === undefined ? 0 : 400) : status,
      codes,
      message: redact(`Cloudflare API, ${name}: HTTP ${status}: ${said}${hint}`, secrets),
      call: name,
      ...(pause !== undefined && { retryAfterMs: pause }),
      ...(permission !== undefined && { permission }),
    });
  };

  /** Whether the call before failed for all its repetitions. */
  let failing = false;
  return {
    budget,
    async call(call) {
      for (let attempt = 1; ; attempt += 1) {
        const start = clock.monotonic();
        try {
          const answer = await once(call);
          failing = false;
          return answer;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          const isTransient = error.class === "transient";
          if (!mayRepeat(call, error)) {
            failing &&= isTransient;
            throw error;
          }
          // What is down is asked again by the object's next pass: the worker is for others meanwhile.
          const isDown = isTransient && (failing || clock.monotonic() - start >= SILENCE_MS);
          if (isDown || attempt === ATTEMPTS) {
            failing = isTransient;
            throw error;
          }
          await sleep(clock, pauseBefore(error, attempt), call.signal);
        }
      }
    },
  };
}

/**
 * Whether the call may be sent again as it is. One that creates may not: it could have taken effect (TUN-1005). A call
 * that was refused as one too many has not.
 */
function mayRepeat({ method }: ApiCall, error: ApiError): boolean {
  if (error.class === "rate-limited")
    return (error.retryAfterMs ?? Number.POSITIVE_INFINITY) <= MAX_PATIENCE_MS;
  return error.class === "transient" && method !== "POST";
}

function pauseBefore(error: ApiError, attempt: number): number {
  // After a refusal the budget holds the next call back by itself.
  return error.class === "rate-limited" ? 0 : RETRY_PAUSE_MS * 2 ** (attempt - 1);
}

function priorityOf(method: ApiCall["method"]): CallPriority {
  if (method === "DELETE") return "delete";
  return method === "GET" ? "read" : "write";
}

function queryText(query: ApiCall["query"] = {}): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) parameters.set(key, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** Parts of a path that name what is called; all others are identifiers. */
const WORDS: ReadonlySet<string> = new Set(
  (
    "accounts zones user tokens verify cfd_tunnel configurations connections token dns_records teamnet routes network " +
    "virtual_networks access apps policies groups identity_providers gateway rules r2 buckets cors lifecycle"
  ).split(" "),
);

/** A path for a metric: identifiers are left out. */
export function endpointOf(path: string): string {
  return path
    .split("/")
    .map((part) => (part === "" || WORDS.has(part) ? part : ":id"))
    .join("/");
}
