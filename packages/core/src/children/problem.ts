/** What keeps a step from being done: one value that becomes condition, event and the time of the next try. */
import {
  ApiError,
  ConnectionError,
  isConflict,
  isForbidden,
  isNamespaceTerminating,
} from "../client/errors.ts";
import { redactText } from "../observe/redact.ts";

/** Most characters of the server's own words that are told; a webhook may write a page. */
const MAX_WORDS = 400;
/** In the answers of admission policies, and of webhooks, whatever code they choose. */
const DENIALS = ["denied request", "denied the request"];

/** What kind of obstacle it is. */
export type ProblemCause =
  /** A right, quota, policy or webhook forbids it: nothing is wrong with the object itself. */
  | "refused"
  /** The server does not take the object as it is. */
  | "invalid"
  /** Somebody else's object has the name. */
  | "foreign"
  /** An object of a former owner, or one that is being deleted, has the name for now. */
  | "leaving"
  /** The namespace is being deleted: further tries would only fail. */
  | "terminating"
  /** The API server cannot be reached, or answers an error of its own. */
  | "unavailable";

export interface Problem {
  readonly cause: ProblemCause;
  /** CamelCase; reason of the condition and of the event. */
  readonly reason: string;
  /** Names the object, verb and field; holds no value of it. */
  readonly message: string;
  /** Milliseconds until the next try makes sense; absent: whenever the caller likes. */
  readonly retryAfterMs?: number;
}

/** What the server says of a webhook that does not answer, without where and how it was called. */
const DEAD_WEBHOOK = /failed calling webhook "[^"]*"/;

/** True for a problem among other results. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "cause" in value && "reason" in value;
}

/**
 * The problem that a failed request is. Throws the error on when it is no answer of the API server, as with an aborted
 * pass or a lost lease, and when it is a conflict: the cache lags behind, and the queue's own retry mends that.
 * @param subject what the request was about, `StatefulSet demo`
 */
export function problemOf(subject: string, error: unknown): Problem {
  if (error instanceof ConnectionError) {
    const message = `${subject}: the API server cannot be reached`;
    return { cause: "unavailable", reason: "ConnectionFailed", message };
  }
  const conflict: boolean = isConflict(error);
  if (!(error instanceof ApiError) || conflict) throw error;
  const terminating: boolean = isNamespaceTerminating(error);
  if (terminating) {
    const message = `${subject}: the namespace is being deleted`;
    return { cause: "terminating", reason: "NamespaceTerminating", message };
  }
  const { method, path } = error;
  const forbidden: boolean = isForbidden(error);
  if (forbidden || DENIALS.some((text) => error.message.includes(text))) {
    const what = `${subject}: ${method} ${path} is forbidden; grant it, or lift what refuses it`;
    return { cause: "refused", reason: "Forbidden", message: `${what}: ${wordsOf(error)}` };
  }
  const cause = error.code === 400 || error.code === 422 ? "invalid" : "unavailable";
  return { cause, reason: reasonOf(error), message: `${subject}: ${summaryOf(error)}` };
}

/** The server's own words, cut before they are looked through for secrets. */
function wordsOf({ message }: ApiError): string {
  const short = message.length > MAX_WORDS ? `${message.slice(0, MAX_WORDS)}…` : message;
  return redactText(short);
}

/** Status, reason and fields of a refusal, without the values that the server quotes. */
function summaryOf(error: ApiError): string {
  if (error.code === 400) return `the API server answered 400 ${error.reason}: ${misfit(error.message)}`;
  const [unreachable] = DEAD_WEBHOOK.exec(error.message.slice(0, MAX_WORDS)) ?? [];
  if (unreachable !== undefined) {
    return `the API server answered ${error.code}: ${unreachable}; whoever keeps that webhook must mend it`;
  }
  const fields = error.details.causes
    .map(({ field, reason }) => [field, reason].filter(Boolean).join(" "))
    .filter((text) => text !== "");
  const list = fields.length === 0 ? "" : `: ${[...new Set(fields)].join(", ")}`;
  return `the API server answered ${error.code} ${error.reason}${list}`;
}

/** The server's reason when it is fit for a condition. */
function reasonOf(error: ApiError): string {
  return /^[A-Za-z]+$/.test(error.reason) ? error.reason : "RequestFailed";
}

/** Which value the server could not read, and what it should be; the value itself may be in the server's words. */
function misfit(words: string): string {
  const [, field, type] =
    /Go struct field (?:[A-Z]\w*\.)?(\S+) of type (\S+)/.exec(words.slice(0, MAX_WORDS)) ?? [];
  if (field !== undefined) return `${field} must be of type ${type}`;
  return words.includes("quantities") ? "a quantity is malformed" : "a value is malformed";
}
