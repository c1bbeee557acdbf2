/** Turns an answer of 400 and more into an {@link ApiError}. */
import { ApiError, type StatusCause, type StatusDetails } from "./errors.ts";

/** Bytes of a body that is no Status which become the message (CORE-118). */
const MESSAGE_BYTES = 256;

interface StatusBody {
  kind?: unknown;
  message?: unknown;
  reason?: unknown;
  metadata?: { continue?: unknown };
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
}

/** What of an answer an error is made from. */
export interface FailedAnswer {
  code: number;
  /** Decoded or raw text of the body. */
  text: string;
  retryAfter: string | undefined;
  method: string;
  path: string;
}

/**
 * Error of a failed answer. `secrets` are texts that must not show up in it, should the answer echo the request.
 */
export function errorFromAnswer(answer: FailedAnswer, secrets: readonly string[]): ApiError {
  const status = parseStatus(answer.text);
  const details: StatusDetails = { ...status?.details, causes: status?.details?.causes ?? [] };
  const message = status === undefined ? plainMessage(answer) : String(status.message ?? "");
  const fromHeader = retryAfterSeconds(answer.retryAfter);
  return new ApiError({
    code: answer.code,
    reason: typeof status?.reason === "string" ? status.reason : "",
    message: redact(withConflicts(message, details.causes), secrets),
    details,
    retryAfterSeconds: fromHeader ?? status?.details?.retryAfterSeconds,
    continueToken: typeof status?.metadata?.continue === "string" ? status.metadata.continue : undefined,
    method: answer.method,
    path: answer.path,
  });
}

/** Seconds of a `Retry-After` header; dates, which the API server never sends, count as absent. */
export function retryAfterSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) : undefined;
}

function parseStatus(text: string): StatusBody | undefined {
  try {
    const body = JSON.parse(text) as unknown;
    const isObject = typeof body === "object" && body !== null;
    return isObject && (body as StatusBody).kind === "Status" ? (body as StatusBody) : undefined;
  } catch {
    return undefined;
  }
}

function plainMessage(answer: FailedAnswer): string {
  const head = Buffer.from(answer.text, "utf8").subarray(0, MESSAGE_BYTES);
  const text = new TextDecoder().decode(head, { stream: true }).trim();
  return text === "" ? `the server answered ${answer.code} without a message` : text;
}

/** Names every owner of a field that an apply met, should the server's message have left one out. */
function withConflicts(message: string, causes: readonly StatusCause[]): string {
  const missing = causes
    .filter((cause) => cause.reason === "FieldManagerConflict")
    .filter((cause) => !message.includes(cause.field ?? "") || !message.includes(cause.message ?? ""))
    .filter((cause) => !mentions(message, cause));
  if (missing.length === 0) return message;
  const lines = missing.map((cause) => `${cause.message ?? "conflict"}: ${cause.field ?? "unknown field"}`);
  return [message, ...lines].join("\n");
}

/** The server groups the fields of one manager below one line, so manager and field are looked for apart. */
function mentions(message: string, cause: StatusCause): boolean {
  const manager = /"([^"]*)"/.exec(cause.message ?? "")?.[1] ?? "";
  return message.includes(manager) && message.includes(cause.field ?? "");
}

function redact(text: string, secrets: readonly string[]): string {
  let clean = text.replace(/\b(Bearer|Basic)\s+[^\s"',;]+/gi, "$1 [redacted]");
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, "[redacted]");
  return clean;
}
